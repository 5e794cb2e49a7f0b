/* SPDX-License-Identifier: Apache-2.0
 *
 * A rack that is cut at links with delay: each part has its own events and agent. What one does reaches another as a packet,
 * and not before the shortest delay of the cut links is over: for so long all go on by themselves (a window). A thread works
 * for several parts, one after the other, each of which is so small that it stays in the caches meanwhile; then the threads
 * meet. crossing.h, parts.c, balance.h.
 */
#ifndef TESTBED_PARTS_H
#define TESTBED_PARTS_H

#include "world.h"

#define ENDED -1 /* instead of a window's last tick */

struct datapath;
struct decider;
struct parts;

/* What a part had to do in one window, from what it took in to what it gave away. */
struct load {
	double seconds; /* of wall time */
	int64_t thread, events, crossed; /* packets that went to other parts */
};

struct part {
	struct world *world; /* whose rack is that of the first part */
	struct datapath *agent;
	struct parts *all;
	int64_t number;
	int64_t thread, counted; /* whose it is, which others may help; its events when that was last looked at: balance.h */
	int64_t next; /* tick before which nothing will happen that it has caused or waits for */
	struct arrivals_list out[2][MOST_PARTS]; /* in each other part */
	struct decider *deciders; /* its own copies, in the order of the rack's; NULL: these themselves */
	int64_t endless; /* a timer stays in the past */
	const int64_t *recorded; /* how many of its decisions have not been taken */
	int64_t failed_at; /* tick at which its agent's controller has failed; 0: it has not */
	uint32_t begun; /* turn of the barrier after which a thread took it on last */
} __attribute__((aligned(CACHE_LINE)));

struct parts {
	struct part *part;
	int64_t count, threads, windows, lookahead; /* ticks: the shortest delay of a cut link */
	int64_t limit; /* the last tick of this window, or ENDED */
	int64_t side; /* of `out`, of this window: what the last one has left on the other one is taken in meanwhile */
	int64_t next_sample;
	double until; /* s, of this call, */
	int64_t last; /* whose last tick it is */
	int64_t draining; /* or until nothing is on its way: no agent is there */
	struct decider **deciders; /* of the rack: controllers, and a path chooser */
	int64_t decider_count;
	void (*full)(void); /* takes what parts have recorded; NULL if nobody does */
	int64_t room; /* once there are so many */
	struct load *loads; /* of each window and part, for as many windows as there is room for; NULL if nobody asks */
	int64_t opened, loads_room;
	/* a barrier */
	uint32_t turn, sleeping, arrived, unused;
};

void sleep_while(uint32_t *at, uint32_t value); /* or until all are woken there */
void wake_all(uint32_t *at);
void meet(struct parts *all, void (*between)(struct parts *all)); /* barrier.c */
/* crossing.h: */
void enter_part(struct part *own);
void leave_part(struct part *own);
void enter_thread(int64_t number);
void leave_thread(int64_t number);
void expect_moment(struct part *own, int64_t tick);
void begin_windows(struct parts *all);
void end_windows(struct parts *all);
void cut_lines(struct parts *all, const int64_t *end);

int64_t run_parts(struct parts *all, double until, int64_t draining);
void take_records(struct parts *all, int64_t room, void (*full)(void));
void watch_loads(struct parts *all, struct load *loads, int64_t room);
void decide_parts(struct parts *all, double now);
int64_t find_failure(struct parts *all);
struct parts *make_parts(int64_t count, int64_t threads, struct decider **deciders, int64_t decider_count);
void set_part(struct parts *all, int64_t number, struct world *w, struct datapath *agent, struct decider *deciders);
void divide(struct parts *all, const int64_t *line, const int64_t *flow, const int64_t *host);
int64_t thread_of(const struct parts *all, int64_t number);
void forget_parts(struct parts *all);

#endif
