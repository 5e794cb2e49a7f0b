// SPDX-License-Identifier: Apache-2.0
/* The sender: what it may send, and what it asks for. */
#include "credits.h"
#include "datapath.h"

static int64_t spent(const struct datapath *d, int64_t f)
{
	return d->flow[f].sent + d->flow[f].again;
}

/* Of these packets, how many the flow may send. */
int64_t affordable(const struct datapath *d, int64_t f, int64_t packets)
{
	const struct spender *s = &d->credits.spenders[f];
	int64_t most = s->unasked + s->granted - spent(d, f);

	return most < packets ? most : packets;
}

/*
 * For the packet that is about to leave: what its flow wants to have been granted, but not more than its window lets go. One more for each
 * packet that was trimmed, the receiver adds, who knows of those first.
 */
uint32_t what_it_wants(struct datapath *d, int64_t f)
{
	struct spender *s = &d->credits.spenders[f];
	const struct flow *flow = &d->flow[f];
	int64_t wanted = flow->to_send < MOST_WANTED ? flow->to_send : MOST_WANTED;
	uint32_t said;

	if (!isinf(flow->window) && flow->window < (double)(wanted * d->wire_size))
		wanted = 1 + (int64_t)(flow->window / (double)d->wire_size);
	said = (uint32_t)(spent(d, f) + wanted - s->unasked - flow->trims) & ((1u << ASKED_BITS) - 1);
	if (s->starved)
		said |= 1u << ASKED_BITS;
	s->starved = 0;
	return said;
}

/* Nothing has come back from these flows for a whole timeout: each may send a packet, which asks again. */
void ask_again(struct datapath *d, const int64_t *flows, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		if (affordable(d, flows[i], 1) < 1)
			d->credits.spenders[flows[i]].unasked++;
		d->credits.spenders[flows[i]].starved = 1;
	}
}

/* More was granted to a flow. Returns whether that is news. */
int take_credit(struct datapath *d, const struct record *r, double now)
{
	int64_t f = (int64_t)r->flow - d->first, granted;
	struct spender *s = &d->credits.spenders[f];

	granted = nearest(s->granted, r->psn, 24);
	if (!d->flow[f].inflight)
		d->flow[f].last_feedback = now; /* of what is on its way, it says nothing */
	if (granted <= s->granted)
		return 0;
	s->granted = granted;
	s->patience /= 2;
	return 1;
}
