/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * The queue of a port, and whether RED marks a packet that finds so much in it.
 */
#ifndef TESTBED_RED_BPF_H
#define TESTBED_RED_BPF_H

#include "ports.bpf.h"

/* Written from user space under the lock (BPF_F_LOCK), so that no packet sees Kmin of one setting and Kmax of another. */
struct red {
	struct bpf_spin_lock lock;
	__u32 kmin;
	__u32 kmax;
	__u32 pmax; /* probability << 32, minus one */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct red);
} port_red SEC(".maps");

struct queue {
	struct bpf_spin_lock lock;
	__u32 random;
	__u64 bytes; /* << RATE_SHIFT */
	__u64 last_ns;
	__u64 tx_bytes; /* dequeued; never goes back, not even when the queue is corrected */
	/* who finds the last room in the buffer */
	__u64 sent; /* since the last measurement: bytes << RATE_SHIFT */
	__u32 offered; /* bytes that came meanwhile */
	__u32 share; /* of them that gets in << 32, minus one; 0: not measured yet */
	__u32 position; /* shares of the packets that have come since the last draw */
	__u32 drawn; /* the position that wins */
	__u64 spare; /* up to a line of a cache */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct queue);
} port_queue SEC(".maps");

/* Of one moment. */
static __always_inline struct red red_now(struct red *shared)
{
	struct red red = {};

	bpf_spin_lock(&shared->lock);
	red.kmin = shared->kmin;
	red.kmax = shared->kmax;
	red.pmax = shared->pmax;
	bpf_spin_unlock(&shared->lock);
	return red;
}

/* xorshift32 (Marsaglia, 2003): seeded, so that marking is reproducible for the same arrivals. */
static __always_inline __u32 next_random(struct queue *port)
{
	__u32 random = port->random;

	random ^= random << 13;
	random ^= random >> 17;
	random ^= random << 5;
	port->random = random;
	return random;
}

static __always_inline int red_marks(const struct red *red, __u32 queue, __u32 random)
{
	if (queue <= red->kmin)
		return 0;
	if (queue > red->kmax)
		return 1;
	/* kmax > kmin here */
	return random < (__u64)red->pmax * (queue - red->kmin) / (red->kmax - red->kmin);
}

#endif
