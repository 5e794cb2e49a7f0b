// SPDX-License-Identifier: Apache-2.0
/* A controller is told one thing after the other, as the agent's C tells it; the clock is read once per batch. */
#include <string.h>
#include <time.h>

#include "decide.h"

#define BATCH 64 /* mirrored in controllers.py */

/* Something that happens to a flow. */
struct told {
	int64_t flow, event, number;
	double now;
	struct cc_ack ack;
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Sets the time per call of each batch (ns); 0 if the controller failed. */
int64_t time_calls(struct decider *d, const struct told *all, int64_t batches, double *ns)
{
	struct told told[BATCH]; /* in the cache, as what an agent has just read */
	double began;

	for (int64_t b = 0; b < batches; b++) {
		memcpy(told, all + b * BATCH, sizeof(told));
		began = now_ns();
		for (int64_t i = 0; i < BATCH; i++) {
			const struct told *t = told + i;

			if (!tell(d, t->flow, t->event, t->now, t->number, t->event == CC_ON_ACK ? &t->ack : NULL))
				return 0;
		}
		ns[b] = (now_ns() - began) / BATCH;
	}
	return 1;
}
