/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * The network condition monitor's flow table: who sends to whom through a port, how much, and when last.
 *
 * Its size is its bound. User space cleans up once per slot (testbed/tuning/conditions.py); until then a flow that
 * finds the table full is not counted, and its packets are forwarded like any other.
 */
#ifndef TESTBED_MONITOR_BPF_H
#define TESTBED_MONITOR_BPF_H

#include "roce.bpf.h"

/* A plain hash, not an LRU: what must go is known from the slots, and a table that is not full must not forget. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct flow_key);
	__type(value, struct flow_seen);
} flow_table SEC(".maps");

static __always_inline void count_flow(__u32 port, const struct roce *packet, __u32 length, __u64 now)
{
	struct flow_key key = {
		.port = port,
		.src = packet->src_ip,
		.dst = packet->dst_ip,
		.qp = packet->qp & bpf_htonl(0xffffff),
	};
	struct flow_seen *seen = bpf_map_lookup_elem(&flow_table, &key);

	if (seen) {
		__sync_fetch_and_add(&seen->bytes, length);
		seen->last_ns = now;
	} else {
		struct flow_seen first = {.bytes = length, .last_ns = now};

		bpf_map_update_elem(&flow_table, &key, &first, BPF_NOEXIST);
	}
}

#endif
