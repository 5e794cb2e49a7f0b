/* SPDX-License-Identifier: Apache-2.0
 *
 * What a NIC does for its host, so that the kernel need not look at each packet: TCP segmentation, checksums and generic receive
 * offload: offload.c, which owns nothing.
 */
#ifndef TESTBED_OFFLOAD_H
#define TESTBED_OFFLOAD_H

#include <linux/virtio_net.h>
#include <stdint.h>

#define MOST_JOINED 64 /* packets */
#define MOST_BYTES 65535 /* from the IP header on */

/* What a host's kernel has sent at once: one packet, or several of TCP under one header. */
struct sent {
	const struct virtio_net_hdr *asked; /* of its NIC */
	const uint8_t *frame;
	int64_t length;
};

static inline uint32_t two_bytes(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

void set_ip_length(uint8_t *frame, int64_t length); /* of a frame with so many bytes, and the checksum */

int64_t segments_of(const struct sent *sent);
int64_t write_packet(const struct sent *sent, int64_t number, uint8_t *frame); /* returns its length */

/* Bytes of the headers of a packet of TCP with data, and nothing that is urgent for its receiver; else 0. */
int64_t head_of_data(const uint8_t *frame, int64_t length);
/* Whether a packet with such a head goes on where `last` ends, the last of those that were joined to `first`. */
int continues(const uint8_t *first, const uint8_t *last, const uint8_t *frame, int64_t head);
/* The head of the first is that of all, to `last`, with so many bytes of data; what the kernel must be told of them. */
struct virtio_net_hdr join(uint8_t *first, const uint8_t *last, int64_t head, int64_t data);

#endif
