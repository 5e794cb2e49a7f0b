/* SPDX-License-Identifier: Apache-2.0
 *
 * How C asks a controller of the form per flow (testbed/controller.py, CompiledController): machine code, or Python
 * behind the same pointer. What it is told is of testbed_cc.h; layout.py and flows.py mirror both.
 */
#ifndef TESTBED_DECIDE_H
#define TESTBED_DECIDE_H

#include "testbed_cc.h"

#include <math.h>

/* Every flow's record begins with what was decided. */
struct decided {
	double rate, window, timer;
};

/*
 * numba's calling convention: a status other than 0 is an exception, which `raised` describes. An SRC comes as an ACK
 * whose `rtt` is its age and whose one hop its port.
 */
typedef int32_t decide_fn(void *nothing, void **raised, struct decided *flow, int64_t event, double now, int64_t number,
			  const struct cc_ack *ack);

struct decider {
	decide_fn *decide;
	char *flows;
	const char *initial; /* the records with which flows start */
	int64_t size; /* bytes of a record */
	int64_t wants_src;
	/* what went wrong: a status (or that of an impossible decision), the flow and the event */
	int64_t status, failed_flow, failed_event;
	void *raised;
	decide_fn *native; /* a controller that is C, which `decide` guards (guard.c) */
	void *apart; /* and its process, if it has one of its own (isolate.c) */
	int64_t child;
};

#define IMPOSSIBLE 1000000 /* the status of a rate, window or timer that cannot be */
#define CRASHED 2000000 /* with the number of a signal: that of a controller in C that crashed */

static inline struct decided *record_of(const struct decider *c, int64_t f)
{
	return (struct decided *)(c->flows + f * c->size);
}

/* Whether a rate, a window and a timer can be applied; nan can not. */
static inline int possible(double rate, double window, double timer)
{
	return rate > 0 && !isinf(rate) && window > 0 && !isnan(timer);
}

/* Whether a call ended well; if not, `c` says how. */
static inline int went_well(struct decider *c, int64_t f, int64_t event, int64_t status)
{
	if (!status)
		return 1;
	c->status = status;
	c->failed_flow = f;
	c->failed_event = event;
	return 0;
}

/* Tell flow `f` of an event; 0 if the controller failed, and `c` says how. */
static inline int tell(struct decider *c, int64_t f, int64_t event, double now, int64_t number, const struct cc_ack *ack)
{
	struct decided *flow = record_of(c, f);
	void *nothing;
	int64_t status = c->decide(&nothing, &c->raised, flow, event, now, number, ack);

	if (!status && !possible(flow->rate, flow->window, flow->timer))
		status = IMPOSSIBLE;
	return went_well(c, f, event, status);
}

#endif
