// SPDX-License-Identifier: Apache-2.0
/*
 * Decisions that take time. A flow's state is the controller's at once, and so is its timer, which runs on the same core;
 * rate and window go to the hardware when the decision is made. While one of a flow waits for the core, later feedback
 * of that flow joins it: a core that is too slow decides less often, and not ever later.
 */
#include "core.h"
#include "datapath.h"
#include "schedule.h"

/* The controller has decided for a flow: that applies when the core has worked through it. */
void serve_decision(struct datapath *d, int64_t f, const struct decided *decided, double now)
{
	struct core *c = &d->decisions.core;
	struct serving *s = c->newest[f] < c->first ? NULL : &c->queue[c->newest[f] % c->size];

	set_timer(d, f, decided->timer);
	reschedule(d, &f, 1, now); /* what was acknowledged has left the window already */
	if (!s || s->begin <= now) {
		double free = c->first < c->last ? c->queue[(c->last - 1) % c->size].end : now;

		c->newest[f] = c->last++;
		s = &c->queue[c->newest[f] % c->size];
		s->flow = f;
		s->begin = fmax(free, now);
		s->end = s->begin + c->cost[f];
	}
	s->rate = decided->rate;
	s->window = decided->window;
}

/* Apply what was made by now. */
void apply_served(struct datapath *d, double now)
{
	struct core *c = &d->decisions.core;

	while (next_served(c) <= now) {
		const struct serving *s = &c->queue[c->first++ % c->size];
		double timer = record_of(d->decisions.of[s->flow], d->flow[s->flow].opener)->timer;

		apply(d, s->flow, &(struct decided){s->rate, s->window, timer}, now);
	}
}
