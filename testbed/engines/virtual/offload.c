// SPDX-License-Identifier: Apache-2.0
/*
 * As a card would: the kernel sends up to 64 kB of TCP under one header, and leaves checksums to whoever sends the packets. What
 * arrives of a connection in one go is given to the kernel under one header, if it differs in nothing that TCP or ECN looks at
 * (as in Linux's tcp_gro_receive).
 */
#include "offload.h"

#include <string.h>

#define IP_AT 14 /* offsets in a frame */
#define IP_LENGTH_AT 16
#define IDENTIFICATION_AT 18
#define IP_CHECKSUM_AT 24
#define ADDRESSES_AT 26
#define TCP_AT 34 /* behind an IPv4 header without options */
#define SEQUENCE_AT 38
#define DATA_OFFSET_AT 46
#define FLAGS_AT 47
#define TCP_CHECKSUM_AT 50
#define UDP_CHECKSUM 6 /* in its header */
#define FIN 0x01
#define PSH 0x08
#define ACK 0x10
#define CWR 0x80
#define TCP 6

static uint32_t four_bytes(const uint8_t *at)
{
	return two_bytes(at) << 16 | two_bytes(at + 2);
}

static void put_two_bytes(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void put_four_bytes(uint8_t *at, uint32_t value)
{
	put_two_bytes(at, value >> 16);
	put_two_bytes(at + 2, value);
}

/* Their sum in ones' complement, in the order of this machine (RFC 1071). */
static uint16_t sum_of(const uint8_t *bytes, int64_t length, uint64_t sum)
{
	uint32_t word;
	uint16_t half;

	for (; length >= 4; bytes += 4, length -= 4) {
		memcpy(&word, bytes, 4);
		sum += word;
	}
	for (; length > 0; bytes += 2, length -= 2) {
		half = 0;
		memcpy(&half, bytes, length > 1 ? 2 : 1);
		sum += half;
	}
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static void set_checksum(uint8_t *at, const uint8_t *bytes, int64_t length)
{
	uint16_t sum = (uint16_t)~sum_of(bytes, length, 0);

	memcpy(at, &sum, 2);
}

void set_ip_length(uint8_t *frame, int64_t length)
{
	put_two_bytes(frame + IP_LENGTH_AT, (uint32_t)(length - IP_AT));
	put_two_bytes(frame + IP_CHECKSUM_AT, 0);
	set_checksum(frame + IP_CHECKSUM_AT, frame + IP_AT, TCP_AT - IP_AT);
}

/* What whoever computes the checksum of TCP finds in its place. */
static void set_pseudo_header(uint8_t *frame, int64_t length)
{
	uint8_t rest[4] = {0, TCP};
	uint16_t sum;

	put_two_bytes(rest + 2, (uint32_t)(length - TCP_AT));
	sum = sum_of(rest, 4, sum_of(frame + ADDRESSES_AT, 8, 0));
	memcpy(frame + TCP_CHECKSUM_AT, &sum, 2);
}

static int64_t head_of(const uint8_t *frame)
{
	return TCP_AT + (frame[DATA_OFFSET_AT] >> 4) * 4;
}

int64_t segments_of(const struct sent *sent)
{
	int64_t size = sent->asked->gso_size;

	if (sent->asked->gso_type == VIRTIO_NET_HDR_GSO_NONE)
		return 1;
	return (sent->length - head_of(sent->frame) + size - 1) / size;
}

static int64_t write_segment(const struct sent *sent, int64_t number, uint8_t *frame)
{
	int64_t head = head_of(sent->frame), size = sent->asked->gso_size, from = head + number * size;
	int64_t left = sent->length - from, data = left < size ? left : size;

	memcpy(frame, sent->frame, (size_t)head);
	memcpy(frame + head, sent->frame + from, (size_t)data);
	put_two_bytes(frame + IDENTIFICATION_AT, two_bytes(frame + IDENTIFICATION_AT) + (uint32_t)number);
	set_ip_length(frame, head + data);
	if (number)
		frame[FLAGS_AT] &= (uint8_t)~CWR;
	if (data < left)
		frame[FLAGS_AT] &= (uint8_t) ~(FIN | PSH);
	put_four_bytes(frame + SEQUENCE_AT, four_bytes(frame + SEQUENCE_AT) + (uint32_t)(number * size));
	set_pseudo_header(frame, head + data);
	set_checksum(frame + TCP_CHECKSUM_AT, frame + TCP_AT, head + data - TCP_AT);
	return head + data;
}

int64_t write_packet(const struct sent *sent, int64_t number, uint8_t *frame)
{
	const struct virtio_net_hdr *asked = sent->asked;
	uint8_t *from = frame + asked->csum_start, *at = from + asked->csum_offset;

	if (asked->gso_type != VIRTIO_NET_HDR_GSO_NONE)
		return write_segment(sent, number, frame);
	memcpy(frame, sent->frame, (size_t)sent->length);
	if (!(asked->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM))
		return sent->length;
	set_checksum(at, from, frame + sent->length - from);
	if (asked->csum_offset == UDP_CHECKSUM && !two_bytes(at))
		put_two_bytes(at, 0xffff); /* the same; 0 would mean that there is none */
	return sent->length;
}

int64_t head_of_data(const uint8_t *frame, int64_t length)
{
	int64_t head;

	if (length <= TCP_AT + 20 || two_bytes(frame + 12) != 0x0800 || frame[IP_AT] != 0x45 || frame[23] != TCP)
		return 0;
	head = head_of(frame);
	if (two_bytes(frame + 20) & 0x3fff || length != IP_AT + two_bytes(frame + IP_LENGTH_AT) || length <= head)
		return 0;
	return (frame[FLAGS_AT] & ~PSH) == ACK ? head : 0;
}

static int64_t data_of(const uint8_t *frame, int64_t head)
{
	return IP_AT + two_bytes(frame + IP_LENGTH_AT) - head;
}

int continues(const uint8_t *first, const uint8_t *last, const uint8_t *frame, int64_t head)
{
	/* type of service; fragments, time to live; addresses, ports; acknowledgement, data offset; window */
	static const int alike[][2] = {{15, 16}, {20, 24}, {26, 38}, {42, 47}, {48, 50}};
	int64_t size = data_of(first, head), next = four_bytes(last + SEQUENCE_AT) + data_of(last, head);

	if (last[FLAGS_AT] & PSH || data_of(last, head) != size || data_of(frame, head) > size)
		return 0;
	for (size_t i = 0; i < sizeof(alike) / sizeof(*alike); i++) {
		if (memcmp(first + alike[i][0], frame + alike[i][0], (size_t)(alike[i][1] - alike[i][0])))
			return 0;
	}
	return four_bytes(frame + SEQUENCE_AT) == (uint32_t)next && !memcmp(first + 54, frame + 54, (size_t)(head - 54));
}

struct virtio_net_hdr join(uint8_t *first, const uint8_t *last, int64_t head, int64_t data)
{
	struct virtio_net_hdr told = {
		VIRTIO_NET_HDR_F_NEEDS_CSUM, VIRTIO_NET_HDR_GSO_TCPV4, (uint16_t)head, (uint16_t)data_of(first, head), TCP_AT,
		TCP_CHECKSUM_AT - TCP_AT,
	};

	first[FLAGS_AT] |= last[FLAGS_AT];
	set_ip_length(first, head + data);
	set_pseudo_header(first, head + data);
	return told;
}
