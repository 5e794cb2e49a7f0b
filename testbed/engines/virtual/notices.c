// SPDX-License-Identifier: Apache-2.0
#include "notices.h"
#include "../../agent/datapath.h"
#include "../../agent/tasks.h"
#include "world.h"

#define CACHED 256 /* flows, whose state stays in most */

static __thread const struct datapath *agent; /* the one that sends in this world */

void serves(const struct datapath *d)
{
	agent = d;
	exceeds_caches = d->flows > CACHED || world->line_count > LARGE;
}

void expect_flow(const struct datapath *d, int64_t f)
{
	fetch(&d->flow[f], sizeof(d->flow[f]));
#if MANY_PATHS
	__builtin_prefetch(&d->paths.flights[f], 1);
#endif
}

/* An ACK or CNP of the flow is about to arrive at its host: fetch what the agent will touch. */
void expect_feedback(uint32_t flow)
{
	const struct datapath *d = agent;
	int64_t f = flow - d->first;

	expect_flow(d, f);
	__builtin_prefetch(&d->rtt_counts[f * FLOW_RTT_BINS + d->flow[f].bin], 1);
	if (d->decisions.of)
		fetch(record_of(d->decisions.of[f], f), d->decisions.of[f]->size);
	if (has_credits(d))
		__builtin_prefetch(&d->credits.spenders[f], 1);
}

/* A packet of the flow is about to arrive at its host, which may grant more. */
void expect_arrival(uint32_t flow)
{
	const struct credits *c = &agent->credits;

	if (!has_credits(agent))
		return;
	fetch(&c->accounts[flow], sizeof(c->accounts[flow]));
	fetch(&c->granters[c->accounts[flow].host], sizeof(*c->granters));
	fetch(record_of(c->decider, flow), c->decider->size);
}

/* A packet has reached its receiver's NIC; with it, perhaps, all of its flow. */
void data_received(uint32_t flow, int64_t delivered)
{
	struct tasks *t = world->tasks;

	if (delivered != t->packets[flow])
		return;
	flow_done(t, flow, nominal(agent, (uint64_t)world->now));
	world->released = 1;
}
