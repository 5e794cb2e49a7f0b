/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for Linux's <linux/if_packet.h> where that is not: no host has apps there, so no ring is ever read.
 */
#ifndef TESTBED_LINUX_IF_PACKET_H
#define TESTBED_LINUX_IF_PACKET_H

#include <linux/types.h>

#define TP_STATUS_KERNEL 0
#define TP_STATUS_USER 1

struct tpacket2_hdr {
	__u32 tp_status, tp_len, tp_snaplen;
	__u16 tp_mac, tp_net;
	__u32 tp_sec, tp_nsec;
};

#endif
