/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * What ports are, and what they have counted.
 */
#ifndef TESTBED_PORTS_BPF_H
#define TESTBED_PORTS_BPF_H

#include "roce.bpf.h"

/* Indexed by ifindex, as all maps of ports. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct port_config);
} port_config SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct port_counters);
} port_counters SEC(".maps");

/* Both ends of a link count what it loses. */
static __always_inline void count_lost(struct port_counters *count, __u32 packets)
{
#ifdef VIRTUAL
	__atomic_fetch_add(&count->lost_packets, packets, __ATOMIC_RELAXED); /* all else is one thread's */
#else
	__sync_fetch_and_add(&count->lost_packets, packets);
#endif
}

#endif
