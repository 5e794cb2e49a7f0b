/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * What agents read: a record of each ACK, CNP, SRC or credit that comes in for a flow of theirs, in a ring buffer.
 */
#ifndef TESTBED_FEEDBACK_BPF_H
#define TESTBED_FEEDBACK_BPF_H

#include "nic.bpf.h"

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

/* Of the agents: one per agent and delay of its delay line. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

/* For whoever grants credits: a data packet has arrived. Not inline: others do without it. */
static __attribute__((noinline)) void tell_arrival(const struct roce *packet, __u32 frame, __u32 number, __u32 flags)
{
	__u32 asked = bpf_ntohl(packet->imm) >> ENTROPY_BITS;
	struct record *record;
	void *ring = bpf_map_lookup_elem(&rings, &number);

	if (!ring)
		return;
	record = bpf_ringbuf_reserve(ring, sizeof(*record), 0);
	if (!record)
		return;
	record->rx_ns = bpf_ktime_get_ns();
	record->tx_ns = bpf_be64_to_cpu(packet->shim.tx_ns);
	record->flow = flow_of(packet);
	record->psn = record->flow < settings.numbered ? bpf_ntohs(packet->shim.frame) : bpf_ntohl(packet->psn) & 0xffffff;
	record->frame = frame;
	record->payload = asked;
	record->ttl = asked >> 16;
	record->opcode = packet->opcode;
	record->flags = flags;
	record->hops = 0;
	bpf_ringbuf_submit(record, settings.ring_flags);
}

static __always_inline void read_hops(struct __sk_buff *skb, struct record *record)
{
	struct int_header header;
	struct int_hop hop;

	if (bpf_skb_load_bytes(skb, INT_OFFSET, &header, sizeof(header)))
		return;
	/* The length says how many hops were reserved, the header how many of them are left. */
	__u32 reserved = ((__u32)header.length * 4 - (sizeof(header) - 4)) / sizeof(hop);
	__u32 used = reserved - (bpf_ntohl(header.version) & 0xff);

	for (__u32 i = 0; i < MAX_HOPS; i++) {
		if (i >= used || bpf_skb_load_bytes(skb, HOPS_OFFSET + i * sizeof(hop), &hop, sizeof(hop)))
			break;
		record->hop[i].ts_ns = bpf_be64_to_cpu(hop.ts_ns);
		record->hop[i].tx_bytes = bpf_be64_to_cpu(hop.tx_bytes);
		record->hop[i].node = bpf_ntohl(hop.node);
		record->hop[i].queue = bpf_ntohl(hop.queue);
		record->hop[i].rate = bpf_ntohl(hop.rate);
		record->hops = i + 1;
	}
}

static __always_inline int on_feedback(struct __sk_buff *skb, struct roce *packet)
{
	__u32 id = flow_of(packet), number;
	struct flow_tx *flow = bpf_map_lookup_elem(&flows_tx, &id);
	struct record *record;
	void *ring;

	if (!flow)
		return TC_ACT_OK;
	if (packet->opcode == BTH_ACK)
		__sync_fetch_and_add(&flow->acks, 1);
#ifdef BOLT
	else if (packet->opcode == BTH_SRC)
		__sync_fetch_and_add(&flow->notices, 1);
#endif
	else if (packet->opcode == BTH_CREDIT)
		__sync_fetch_and_add(&flow->notices, 1);
	else
		__sync_fetch_and_add(&flow->cnps, 1);
	if (packet->shim.flags & SHIM_CE)
		__sync_fetch_and_add(&flow->ce_echoes, id < settings.numbered ? bpf_ntohs(packet->shim.frame) : 1);

	number = flow->ring;
#ifdef BOLT
	if (packet->opcode == BTH_SRC)
		number = flow->notice_ring;
#endif
	if (packet->opcode == BTH_CREDIT)
		number = flow->notice_ring;
	ring = bpf_map_lookup_elem(&rings, &number);
	if (!ring)
		return TC_ACT_SHOT;
	record = bpf_ringbuf_reserve(ring, sizeof(*record), 0);
	if (!record) {
		__sync_fetch_and_add(&flow->ring_full, 1);
		return TC_ACT_SHOT;
	}
	record->rx_ns = bpf_ktime_get_ns();
	record->tx_ns = bpf_be64_to_cpu(packet->shim.tx_ns);
	record->flow = id;
	record->psn = bpf_ntohl(packet->psn) & 0xffffff;
	record->frame = bpf_ntohs(packet->shim.frame);
	record->payload = bpf_ntohs(packet->shim.payload);
	record->opcode = packet->opcode;
	number = bpf_ntohl(packet->imm) >> 24;
	if (packet->opcode == BTH_ACK && (number == AETH_NAK || number == AETH_TRIMMED))
		record->opcode = number;
	record->flags = packet->shim.flags;
	record->ttl = packet->shim.ttl;
	record->hops = 0;
	if (packet->shim.flags & SHIM_INT)
		read_hops(skb, record);
	bpf_ringbuf_submit(record, settings.ring_flags);
	return TC_ACT_SHOT; /* consumed */
}

#endif
