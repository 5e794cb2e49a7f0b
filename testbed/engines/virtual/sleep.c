// SPDX-License-Identifier: Apache-2.0
/* Sleeping means that the world goes on. testbed/agent/sleep.c is the same for a real machine. */
#include "../../agent/sleep.h"
#include "../../agent/datapath.h"
#include "../../agent/machine.h"
#include "../../agent/pace.h"
#include "../../agent/tasks.h"
#include "host.h"
#include "notices.h"
#include "world.h"

/* Fetch what the agent will touch of the flow that sends next. */
static void expect_departure(const struct datapath *d)
{
	int64_t id = d->agenda.length ? d->agenda.events[0].id : 0, f;

	if (id >= d->flows + d->hosts) /* a gate, or a granter */
		return;
	f = id < d->flows ? id : d->first_waiting[id - d->flows];
	expect_flow(d, f);
	__builtin_prefetch((const struct flow_tx *)world->flows_tx + d->first + f, 1);
	fetch(&d->batches[d->flow[f].host], 2 * CACHE_LINE);
}

/* Send, and let the world go on, until `until` or until there is feedback. */
void send_until(struct datapath *d, double until)
{
	serves(d);
	world->feedback->submitted = 0;
	for (;;) {
		double now = now_seconds(d);

		if (MANY_PATHS || heap_first(&d->agenda) <= now)
			send_due(d, now);
		if (exceeds_caches)
			expect_departure(d);
		until = fmin(until, next_start(d));
		if (now >= until)
			return;
		if (!run_until_fed(world, tick_of(d, fmin(heap_first(&d->agenda), until))))
			continue;
		now = now_seconds(d);
		world->released = 0;
		while (world->resumed_count) {
			int64_t host = world->resumed[--world->resumed_count];

			if (host >= 0)
				look_again(d, host, now);
		}
		if (world->feedback->submitted) {
			world->feedback->submitted = 0;
			until = fmin(until, now + world->gather);
		}
	}
}
