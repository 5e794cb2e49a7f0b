/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop of an agent whose controllers decide per flow, without Python: decisions.c. It owns when they are asked; tell.c how.
 */
#ifndef TESTBED_DECISIONS_H
#define TESTBED_DECISIONS_H

#include "../compiled/decide.h"
#include "core.h"
#include "trace.h"

struct datapath;

/* Mirrored in structs.py. */
struct decisions {
	struct decider **of; /* who decides about each flow; NULL if Python does, in batches */
	struct trace *trace;
	int64_t wants_int, wants_sent, wants_src; /* any of them */
	double longest_sleep, gather; /* s: the ring is read this often; feedback may wait this long for more */
	double next_report; /* when it is told what was sent */
	int64_t *due; /* flows whose timers are due, while they are called */
	struct core core;
	/* what is measured: calls, rows; wall seconds; cycles and time at the first sample */
	int64_t *counts, steps;
	double *seconds;
	struct histogram *times;
	int64_t first_cycles, first_ns;
	int64_t failed; /* one of the deciders has, and says how */
};

void decide_due(struct datapath *d, double now);
double next_moment(struct datapath *d);
int64_t serve(struct datapath *d, double until);
int64_t serve_moment(struct datapath *d);
void time_out(struct datapath *d, const int64_t *flows, const int64_t *lost, int64_t n, double now);

static inline int has_failed(const struct decisions *c)
{
	return (int)c->failed;
}

#endif
