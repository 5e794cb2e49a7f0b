/* SPDX-License-Identifier: Apache-2.0
 *
 * What waits for what: a graph in memory that all agents of a rack share; tasks.c. Its nodes are the flows, by their
 * numbers in the rack, and behind them steps, which only take time. A flow is done when the receiver has all of it.
 */
#ifndef TESTBED_TASKS_H
#define TESTBED_TASKS_H

#include <stdint.h>

struct datapath;

/* Mirrored in structs.py. */
struct tasks {
	int64_t flows; /* of the rack */
	const int64_t *first, *next; /* who waits for node i: next[first[i]] up to next[first[i + 1]] */
	int64_t *missing; /* per node: for how many it still waits */
	double *ready; /* per node: when the last so far of those was done */
	const double *length; /* per node, s: of a step; from then to the start of a flow */
	int64_t *link; /* per node: a list of steps that are done and whose followers do not know yet */
	/* per flow */
	const int64_t *packets;
	const double *one_way; /* s, of a full packet through empty queues */
	int64_t *received, *done; /* packets that the receiver has, where it does not count them itself; all of them? */
	const int64_t *agent; /* who serves it */
	/* flows that nothing holds back any more: each agent's in its own part, from `first_flow` on; -1 behind the last */
	int64_t *released;
	/* per agent */
	const int64_t *first_flow, *wake; /* an eventfd, or -1 */
	int64_t *count; /* of those released */
};

void begin_tasks(struct tasks *t, const int64_t *steps, int64_t n);
void flow_done(struct tasks *t, int64_t flow, double time);
double next_start(struct datapath *d);
int64_t due_starts(struct datapath *d, double now, int64_t *flows);
void add_starts(struct datapath *d);

#endif
