// SPDX-License-Identifier: Apache-2.0
/* The receiver: a credit controller decides what its hosts grant, flow by flow in turn. */
#include "grants.h"
#include "datapath.h"
#include "machine.h"

/* Packets granted, or sent unasked, that have not arrived. Who wants less than it may send sends no more. */
static int64_t outstanding(const struct account *a)
{
	int64_t used = a->asked < a->granted ? a->asked : a->granted, packets = a->unasked + used - a->left;

	return packets > 0 ? packets : 0;
}

static int wants(const struct account *a)
{
	return a->asked > a->granted;
}

/* Packets of the flow's next credit. */
static int64_t next_credit(const struct datapath *d, const struct account *a)
{
	int64_t most = (int64_t)(d->credits.granters[a->host].told.host.credit / (double)d->wire_size), wanted = a->asked - a->granted;

	most = most > 1 ? most : 1;
	return wanted < most ? wanted : most;
}

/* Whether so many more packets fit `window` bytes; where there are none they do, unless there is no window. */
static int fits(const struct datapath *d, int64_t packets, int64_t more, double window)
{
	return packets ? (double)((packets + more) * d->wire_size) <= window : window > 0;
}

static struct allowed *allowed(const struct credits *c, int64_t f)
{
	return (struct allowed *)(c->decider->flows + f * c->decider->size);
}

/* What the controller decides about flow `f`. */
static void ask_controller(struct datapath *d, int64_t f, int64_t event, double now)
{
	struct credits *c = &d->credits;
	struct arrived *told = &c->granters[c->accounts[f].host].told;
	const struct allowed *flow = allowed(c, f);
	void *nothing;
	int64_t status;

	if (c->failed)
		return;
	status = c->decider->decide(&nothing, &c->decider->raised, (struct decided *)flow, event, now, 0, (const struct cc_ack *)told);
	if (!status && !(flow->window >= 0 && !isnan(flow->timer) && told->host.rate > 0 && !isinf(told->host.rate) &&
			 told->host.window > 0))
		status = IMPOSSIBLE;
	c->failed = !went_well(c->decider, f, event, status);
	if (!c->failed)
		heap_set(&d->agenda, c->first_id + c->hosts + f, flow->timer);
}

static void wait_for_credit(struct credits *c, int64_t f)
{
	struct account *a = &c->accounts[f];
	struct granter *g = &c->granters[a->host];

	a->queued = 1;
	a->after = -1;
	if (g->first < 0)
		g->first = f;
	else
		c->accounts[g->last].after = f;
	g->last = f;
}

/* Packets that the flow's own window lets it be granted now. */
static int64_t grantable(const struct datapath *d, int64_t f)
{
	const struct account *a = &d->credits.accounts[f];
	int64_t packets = wants(a) ? next_credit(d, a) : 0;

	return fits(d, outstanding(a), packets, allowed(&d->credits, f)->window) ? packets : 0;
}

static int belongs_in_queue(const struct datapath *d, int64_t f)
{
	return d->credits.accounts[f].again || grantable(d, f);
}

/* Whether what is on its way to the host leaves room for the flow's next credit. */
static int leaves_room(const struct datapath *d, const struct account *a)
{
	const struct granter *g = &d->credits.granters[a->host];

	return fits(d, g->outstanding, next_credit(d, a), g->told.host.window);
}

/* Whether the first flow in its queue can be granted something, or be told what it was. */
static int can_go_on(const struct datapath *d, const struct granter *g)
{
	const struct account *a = &d->credits.accounts[g->first < 0 ? 0 : g->first];

	return g->first >= 0 && !d->credits.failed && (a->again || leaves_room(d, a));
}

/* Until then what is on its way to the host would have arrived: within two RTTs of what arrived or was granted last. */
static double patience(const struct granter *g)
{
	return g->heard + 2 * g->told.host.base_rtt;
}

/* When the host grants next. If too much is on its way, an arrival says when, or silence. */
static void plan(struct datapath *d, int64_t host, double now)
{
	const struct granter *g = &d->credits.granters[host];
	double due = can_go_on(d, g) ? g->next : g->first >= 0 && !d->credits.failed ? patience(g) : INFINITY;

	heap_set(&d->agenda, d->credits.first_id + host, fmax(due, now));
}

/* Nothing arrives any more: what was on its way to the host is lost. */
static void forget_what_is_lost(struct datapath *d, int64_t host)
{
	struct credits *c = &d->credits;

	for (int64_t f = 0; f < c->flows; f++) {
		struct account *a = &c->accounts[f];

		if (a->host == host && a->started)
			a->left += outstanding(a);
	}
	c->granters[host].outstanding = 0;
}

/* Returns how many packets it was granted. */
static int64_t grant(struct datapath *d, int64_t f, double now)
{
	struct account *a = &d->credits.accounts[f];
	struct granter *g = &d->credits.granters[a->host];
	int64_t packets = leaves_room(d, a) ? grantable(d, f) : 0;

	a->granted += packets;
	g->outstanding += packets;
	g->told.host.senders -= packets && !wants(a);
	a->again = 0;
	g->heard = now;
	send_credit(d, f, a->granted);
	__atomic_fetch_add(&d->arrivals[g->interface].answered, CREDIT_SIZE, __ATOMIC_RELAXED); /* it takes from its host's line */
	return packets;
}

static void grant_due(struct datapath *d, int64_t host, double due, double now)
{
	struct granter *g = &d->credits.granters[host];
	double slot = (double)(d->wire_size * 8) / fmin(g->told.host.rate, g->told.host.line_rate);

	if (g->first >= 0 && !can_go_on(d, g) && now >= patience(g))
		forget_what_is_lost(d, host);
	for (g->next = fmax(g->next, due); g->next <= now && can_go_on(d, g);) {
		int64_t f = g->first;

		g->first = d->credits.accounts[f].after;
		d->credits.accounts[f].queued = 0;
		if (!belongs_in_queue(d, f))
			continue; /* its next arrival puts it back */
		g->next += (double)grant(d, f, now) * slot;
		if (belongs_in_queue(d, f))
			wait_for_credit(&d->credits, f);
	}
	plan(d, host, now);
}

static void note_arrival(struct datapath *d, const struct record *r, double delay, double now)
{
	struct account *a = &d->credits.accounts[r->flow];
	struct granter *g = &d->credits.granters[a->host];
	int64_t said = r->payload | (int64_t)r->ttl << 16, before = a->started ? outstanding(a) : 0, wanted = wants(a);
	int64_t trimmed = r->flags & TRIMMED, asked, left;

	a->trims += trimmed;
	a->asked += trimmed;
	asked = nearest(a->granted, said + a->trims, ASKED_BITS);
	left = numbered(d) ? nearest(a->left, r->psn, 16) : nearest(a->left, r->psn, 24) + 1;
	if (!a->started || left > a->left || asked > a->asked) /* the newest, which may want less: what asks is data, too */
		a->asked = asked;
	if (left > a->left)
		a->left = left;
	if (a->left > a->unasked + a->granted) /* timeouts have let it send more unasked */
		a->unasked = a->left - a->granted;
	a->again |= said >> ASKED_BITS & 1;
	g->outstanding += outstanding(a) - before;
	g->told.host.senders += wants(a) - wanted;
	g->told.host.outstanding = g->outstanding * d->wire_size;
	g->heard = g->told.arrival.now = now;
	g->told.arrival.bytes = r->frame;
	g->told.arrival.ce_packets = !!(r->flags & SHIM_CE);
	g->told.arrival.waiting = (a->asked - a->granted) * d->wire_size;
	g->told.arrival.outstanding = outstanding(a) * d->wire_size;
	g->told.arrival.delay = delay;
	g->told.arrival.trimmed = trimmed;
}

/* A packet has arrived at this end. */
void take_arrival(struct datapath *d, const struct record *r, double delay, double now)
{
	int64_t f = r->flow;
	struct account *a = &d->credits.accounts[f];

	note_arrival(d, r, delay, now);
	if (!a->started)
		ask_controller(d, f, RECEIVER_START, now);
	a->started = 1;
	ask_controller(d, f, RECEIVER_ARRIVAL, now);
	if (!a->queued && belongs_in_queue(d, f))
		wait_for_credit(&d->credits, f);
	plan(d, a->host, now);
}

/* What was in the agenda. */
void credits_due(struct datapath *d, int64_t id, double due, double now)
{
	int64_t f = id - d->credits.first_id - d->credits.hosts;

	if (f < 0) {
		grant_due(d, id - d->credits.first_id, due, now);
		return;
	}
	ask_controller(d, f, RECEIVER_TIMER, now);
	if (!d->credits.accounts[f].queued && belongs_in_queue(d, f))
		wait_for_credit(&d->credits, f);
	plan(d, d->credits.accounts[f].host, now);
}
