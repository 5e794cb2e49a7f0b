/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for Linux's <linux/if_ether.h> where that is not (IEEE 802.3, 802.1Q).
 */
#ifndef TESTBED_LINUX_IF_ETHER_H
#define TESTBED_LINUX_IF_ETHER_H

#include <linux/types.h>

#define ETH_ALEN 6
#define ETH_HLEN 14
#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86dd
#define ETH_P_8021Q 0x8100
#define ETH_P_8021AD 0x88a8
#define ETH_P_PAUSE 0x8808

struct ethhdr {
	__u8 h_dest[ETH_ALEN], h_source[ETH_ALEN];
	__be16 h_proto;
} __attribute__((packed));

#endif
