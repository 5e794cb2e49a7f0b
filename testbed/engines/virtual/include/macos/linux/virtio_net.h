/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for Linux's <linux/virtio_net.h> where that is not: no host has apps there, so nothing is ever cut or joined.
 */
#ifndef TESTBED_LINUX_VIRTIO_NET_H
#define TESTBED_LINUX_VIRTIO_NET_H

#include <linux/types.h>

#define VIRTIO_NET_HDR_F_NEEDS_CSUM 1
#define VIRTIO_NET_HDR_GSO_NONE 0
#define VIRTIO_NET_HDR_GSO_TCPV4 1

struct virtio_net_hdr {
	__u8 flags, gso_type;
	__u16 hdr_len, gso_size, csum_start, csum_offset;
};

#endif
