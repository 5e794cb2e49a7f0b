/* SPDX-License-Identifier: Apache-2.0
 *
 * A rack that is cut at links with delay: each part has its own events, agent and thread. What one does reaches another as
 * a packet, and not before the shortest delay of the cut links is over: for so long all go on by themselves (a window), and
 * then they meet. crossing.h, parts.c.
 */
#ifndef TESTBED_PARTS_H
#define TESTBED_PARTS_H

#include "world.h"

#define MOST_PARTS 64
#define NEVER INT64_MAX

struct datapath;
struct decider;
struct parts;

/* Mirrored in structs.py. */
struct part {
	struct world *world; /* whose rack is that of the first part */
	struct datapath *agent;
	struct parts *all;
	int64_t number;
	int64_t ended; /* it has nothing more to do this time */
	int64_t next; /* tick before which it will not act */
	int64_t side; /* of `out`, of this window: the other one is taken in by others meanwhile */
	struct packet *idle; /* while its thread is not there */
	struct fifo out[2][MOST_PARTS]; /* packets that have crossed a cut to each other part */
	struct fifo back[2][MOST_PARTS]; /* idle ones: */
	int64_t kept[MOST_PARTS]; /* packets that came from each other part, less those that went there */
	struct decider *deciders; /* its own copies, in the order of the rack's; NULL: these themselves */
	int64_t endless; /* a timer stays in the past */
	const int64_t *recorded; /* how many of its decisions have not been taken */
	int64_t failed_at; /* tick at which its agent's controller has failed; 0: it has not */
} __attribute__((aligned(CACHE_LINE)));

/* Mirrored in structs.py. */
struct parts {
	struct part *part;
	int64_t count, lookahead; /* ticks: the shortest delay of a cut link */
	int64_t limit; /* the last tick of this window; -1: all have ended */
	int64_t next_sample;
	double until; /* s, of this call */
	int64_t draining; /* or until nothing is on its way: no agent is there */
	struct decider **deciders; /* of the rack: controllers, and a path chooser */
	int64_t decider_count;
	void (*full)(void); /* takes what parts have recorded; NULL if nobody does */
	int64_t room; /* once there are so many */
	/* a barrier */
	uint32_t turn, sleeping, arrived, unused;
};

void meet(struct parts *all, void (*between)(struct parts *all)); /* barrier.c */
/* crossing.h: */
void enter_part(struct part *own);
void leave_part(struct part *own);
void leave_windows(struct world *w);
void begin_windows(struct parts *all);
void cut_lines(struct parts *all, const int64_t *end);

int64_t run_parts(struct parts *all, double until, int64_t draining);
void take_records(struct parts *all, int64_t room, void (*full)(void));
void decide_parts(struct parts *all, double now);
int64_t find_failure(struct parts *all);
struct parts *make_parts(int64_t count, struct decider **deciders, int64_t decider_count);
void set_part(struct parts *all, int64_t number, struct world *w, struct datapath *agent, struct decider *deciders);
void divide(struct parts *all, const int64_t *line, const int64_t *flow, const int64_t *host);
void forget_parts(struct parts *all);

#endif
