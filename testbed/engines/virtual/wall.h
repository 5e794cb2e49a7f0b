/* SPDX-License-Identifier: Apache-2.0
 *
 * The pace of a world that keeps wall time: wall.c, which owns the clock. Whoever waits is woken when apps send, or get, a
 * packet: 0 is returned then, else 1.
 */
#ifndef TESTBED_WALL_H
#define TESTBED_WALL_H

#include <stdint.h>
#include "../../agent/histogram.h"

struct world;

/* Mirrored in structs.py. */
struct wall {
	int64_t epoch_ns, epoch; /* CLOCK_MONOTONIC, and the tick that is due then */
	double ticks_per_ns, seconds_per_tick;
	int64_t ahead; /* ticks by which things may happen before they are due */
	int64_t grain; /* ns that events may wait for each other: sleeping costs more than they do */
	int64_t reached; /* the tick that was due when the clock was last read */
	int64_t next_rest; /* the tick */
	int64_t unmeasured; /* events since the last one that was measured */
	struct histogram lag;
};

int wait_for(struct world *w, int64_t tick); /* until it may come */
int keep_pace(struct world *w, int64_t tick); /* the same before what happens then, of which lateness is measured */
int64_t tick_now(const struct wall *wall); /* that is due, for threads that are not the world's */
int64_t tick_of_wall(struct wall *wall, int64_t ago_ns); /* that was due so long ago */

#endif
