/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * The receive buffer of a NIC whose host is slower than its line: lossless packets wait there until the host takes them.
 *
 * It drains at the host's rate. A packet that finds it above xoff pauses its priority at the switch for as long as the
 * buffer takes to fall to xon, which the frame says: so nobody has to resume it. What has come in is acknowledged at once,
 * as an RNIC does, which vouches for it from then on.
 */
#ifndef TESTBED_INTAKE_BPF_H
#define TESTBED_INTAKE_BPF_H

#include "pool.bpf.h"

/* As in wire.py. */
struct intake {
	struct bpf_spin_lock lock;
	__u32 reserved;
	__u64 drain; /* bytes per ns << RATE_SHIFT; 0: the host takes all at once */
	__u64 xoff;
	__u64 xon;
	__u64 limit; /* what would exceed it is dropped */
	/* state */
	__u64 bytes; /* << RATE_SHIFT */
	__u64 last_ns;
	__u64 until[PRIORITIES]; /* that each was asked to pause */
};

/* By ifindex. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct intake);
} intakes SEC(".maps");

static __always_inline void drain_intake(struct intake *intake, __u64 now)
{
	__u64 dt = now > intake->last_ns ? now - intake->last_ns : 0;

	intake->bytes = dt > intake->bytes / intake->drain ? 0 : intake->bytes - dt * intake->drain;
	intake->last_ns = now;
}

/* A data packet has come to its host: whether there is room for it. */
static __always_inline int enter_intake(const struct __sk_buff *skb, const struct roce *packet)
{
	__u32 key = skb->ifindex, first = 0, priority, row, quanta = 0;
	struct class_table *classes = bpf_map_lookup_elem(&class_table, &first);
	struct intake *intake = bpf_map_lookup_elem(&intakes, &key);
	__u64 now = bpf_ktime_get_ns(), xon;
	struct ingress *ingress;
	struct group *group;
	struct pause *pause;
	int full;

	if (!classes || !intake || !intake->drain)
		return 1;
	priority = classes->group_of[packet->tos >> 2] & (PRIORITIES - 1);
	row = row_of(classes, key, priority);
	ingress = bpf_map_lookup_elem(&ingresses, &row);
	group = bpf_map_lookup_elem(&groups, &row);
	pause = bpf_map_lookup_elem(&pauses, &row);
	if (!(classes->lossless >> priority & 1) || !ingress || !group || !pause || !pause->quantum_ps)
		return 1;
	xon = intake->xon << RATE_SHIFT;
	bpf_spin_lock(&intake->lock);
	drain_intake(intake, now);
	full = (intake->bytes >> RATE_SHIFT) + skb->len > intake->limit;
	if (!full)
		intake->bytes += (__u64)skb->len << RATE_SHIFT;
	if (intake->bytes >> RATE_SHIFT > intake->xoff && now >= intake->until[priority]) {
		__u64 wanted = (intake->bytes - xon) / intake->drain * 1000 / pause->quantum_ps + 1;

		quanta = wanted < LONGEST_PAUSE ? wanted : LONGEST_PAUSE;
		intake->until[priority] = now + quanta * pause->quantum_ps / 1000;
	}
	bpf_spin_unlock(&intake->lock);
	if (full)
		__sync_fetch_and_add(&group->dropped_packets, 1);
	if (quanta) {
		__sync_fetch_and_add(&ingress->pauses, 1);
		__sync_fetch_and_add(&ingress->paused_ns, quanta * pause->quantum_ps / 1000);
		signal_event(row, ingress, ABOVE_XOFF, quanta, now);
	}
	return !full;
}

#endif
