/* SPDX-License-Identifier: Apache-2.0
 *
 * The core of a NIC that makes decisions one after the other, each in its controller's time; core.c. Only virtual time has
 * one: elsewhere decisions take the time that they take. Mirrored in structs.py.
 */
#ifndef TESTBED_CORE_H
#define TESTBED_CORE_H

#include <math.h>
#include <stdint.h>

#include "../compiled/decide.h"

struct datapath;

/* A decision: when the core begins with it, and when rate and window apply. */
struct serving {
	double begin, end, rate, window;
	int64_t flow;
};

struct core {
	const double *cost; /* s per flow; 0: its decisions need no core. NULL: nobody's do */
	struct serving *queue; /* a ring; a flow has at most one that has begun and one that waits */
	int64_t size, first, last; /* entries; positions, which only grow: of the oldest, and behind the newest */
	int64_t *newest; /* per flow: the position of its newest decision; -1 */
};

void serve_decision(struct datapath *d, int64_t f, const struct decided *decided, double now);
void apply_served(struct datapath *d, double now);

static inline int needs_core(const struct core *c, int64_t f)
{
	return c->cost && c->cost[f] > 0;
}

/* When the next decision applies. */
static inline double next_served(const struct core *c)
{
	return c->first < c->last ? c->queue[c->first % c->size].end : INFINITY;
}

#endif
