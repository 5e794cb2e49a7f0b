/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * Ports with several queues: which queue a packet waits in, and what has left it.
 *
 * What a queue drains depends on the others, so that its backlog is counted and not computed: bytes that entered the port
 * less those that have left its line (departures.bpf.h). Compiled with CLASSES only; ports of one queue pay nothing for it.
 *
 * A port's own row in the maps of ports is its interface: all of its queues together. Behind those of all interfaces come
 * rows for queues (row_of).
 */
#ifndef TESTBED_CLASSES_BPF_H
#define TESTBED_CLASSES_BPF_H

#include "roce.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct class_table);
} class_table SEC(".maps");

/* By row, of the interface at the far end of the port's link. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct departures);
} departures SEC(".maps");

static __always_inline __u32 row_of(const struct class_table *classes, __u32 interface, __u32 queue)
{
	return interface + (1 + queue) * classes->interfaces;
}

#define NO_DSCP DSCPS

/* Whatever the packet is. */
static __always_inline __u32 dscp_of(const struct ip_place *ip)
{
	return ip->at ? ip->traffic_class >> 2 : NO_DSCP;
}

static __always_inline __u32 queue_of(const struct class_table *classes, const struct ip_place *ip)
{
	__u32 dscp = dscp_of(ip);

	return dscp < DSCPS ? classes->queue_of[dscp] : classes->others;
}

/* Bytes that wait. What left while this looked makes a queue shorter than nothing. */
static __always_inline __u32 backlog(const struct port_counters *count, const struct departures *left)
{
	__s64 bytes = (__s64)(count->bytes - left->bytes);

	return bytes > 0 ? bytes : 0;
}

static __always_inline void count_departure(struct departures *from, const struct size *size, __u64 now)
{
	__sync_fetch_and_add(&from->bytes, size->bytes);
	__sync_fetch_and_add(&from->packets, size->packets);
	__sync_fetch_and_add(&from->byte_ns, size->bytes * now);
}

#endif
