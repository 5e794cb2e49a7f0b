// SPDX-License-Identifier: Apache-2.0
#include "paths.h"

#if MANY_PATHS

#include "datapath.h"
#include "memory.h"

#include <stdlib.h>

#define FIRST_ROOM 64 /* packets */
#define HEADER 8 /* of a ring buffer record */
#define OVERDUE 4 /* longest RTTs */

static struct way *way_of(const struct flight *p, int64_t number)
{
	return &p->ways[number & (p->room - 1)];
}

/* Tell the chooser; 0 if it has failed. */
static int tell_chooser(struct datapath *d, int64_t f, int64_t event, double now, int64_t entropy, const struct cc_ack *ack)
{
	struct decider *c = d->paths.chooser;
	void *nothing;
	int64_t status;

	if (!c || d->paths.failed)
		return 0;
	status = c->decide(&nothing, &c->raised, record_of(c, f), event, now, entropy, ack);
	if (!status && (uint64_t)((struct chosen *)record_of(c, f))->entropy >= ENTROPIES)
		status = IMPOSSIBLE;
	d->paths.failed = !went_well(c, f, event, status);
	return !d->paths.failed;
}

/* Numbers name data: what became of one is told of the path that it took last. */
void tell_path(struct datapath *d, int64_t f, int64_t number, int64_t event, const struct cc_ack *ack, double now)
{
	const struct flight *p = &d->paths.flights[f];

	if (d->paths.chooser && p->room && way_of(p, number)->number == number)
		tell_chooser(d, f, event, now, way_of(p, number)->entropy, ack);
}

/* Room for packet `number`, twice as much as there was if need be. */
static void make_room(struct flight *p, int64_t first, int64_t number)
{
	int64_t room = p->room ? p->room : FIRST_ROOM;
	struct way *ways;

	while (number - first >= room)
		room *= 2;
	if (room == p->room)
		return;
	ways = needed(calloc((size_t)room, sizeof(*ways)));
	for (int64_t n = first; n < number; n++)
		ways[n & (room - 1)] = *way_of(p, n);
	free(p->ways);
	p->ways = ways;
	p->room = room;
}

/* Packet `number` of a flow leaves; returns its entropy, 0 where the switches choose. */
int64_t note_sent(struct datapath *d, int64_t f, int64_t number)
{
	struct flight *p = &d->paths.flights[f];
	double now = d->paths.now;
	int64_t entropy = 0, *last;

	if (!p->room) /* its first packet */
		tell_chooser(d, f, CHOOSE_START, now, 0, NULL);
	if (tell_chooser(d, f, CHOOSE_SEND, now, 0, NULL))
		entropy = ((struct chosen *)record_of(d->paths.chooser, f))->entropy;
	make_room(p, d->flow[f].expected, number);
	last = &p->last[entropy % CHAINS];
	*way_of(p, number) = (struct way){
		.sent = now,
		.number = number,
		.before = *last < number ? *last : -1, /* a packet that the kernel refused leaves with its number again */
		.entropy = (uint16_t)entropy,
	};
	*last = number;
	return entropy;
}

static void declare_lost(struct datapath *d, int64_t f, struct way *w, int64_t event, double now)
{
	w->resolved = w->lost = 1;
	d->flow[f].inflight--;
	d->flow[f].lost++;
	d->flow[f].to_send++;
	tell_chooser(d, f, event, now, w->entropy, NULL);
}

/* Whether the acknowledgement of a packet waits in the ring: the cores of this machine may swap two of them. */
static int is_waiting(const struct ring *ring, uint32_t flow, int64_t number)
{
	uint64_t end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);

	for (uint64_t at = *ring->consumer; at < end; at += HEADER + sizeof(struct record)) {
		const struct record *r = (const struct record *)(ring->data + (at & ring->mask) + HEADER);

		if (r->flow == flow && r->opcode == BTH_ACK && r->psn == ((uint32_t)number & 0xffffff))
			return 1;
	}
	return 0;
}

/* Those that left before packet `w` with its entropy, and are still out, are lost. Returns how many. */
static int64_t overtaken(struct datapath *d, struct ring *ring, int64_t f, const struct way *w, double now)
{
	const struct flight *p = &d->paths.flights[f];
	int64_t lost = 0, at = w->number;

	for (int64_t number = w->before; number >= d->flow[f].expected && number < at;) {
		struct way *earlier = way_of(p, number);

		if (earlier->entropy == w->entropy) {
			if (earlier->resolved)
				break; /* what left before that one is known, too */
			if (!is_waiting(ring, (uint32_t)(d->first + f), number)) {
				declare_lost(d, f, earlier, CHOOSE_LOSS, now);
				lost++;
			}
		}
		at = number;
		number = earlier->before;
	}
	return lost;
}

/*
 * An acknowledgement of flow `f`, whose packet took `rtt`. Returns how many packets are known to be lost now; -1 if this
 * one had been declared lost.
 */
int64_t resolve(struct datapath *d, struct ring *ring, int64_t f, const struct record *r, double rtt, double now)
{
	struct flight *p = &d->paths.flights[f];
	struct flow *flow = &d->flow[f];
	int64_t number = flow->expected + ((int32_t)((r->psn - (uint32_t)flow->expected) << 8) >> 8), lost = 0;
	struct way *w = way_of(p, number);
	struct cc_ack ack = {.now = now, .packets = 1, .bytes = r->frame, .rtt = rtt, .ce_packets = !!(r->flags & SHIM_CE)};
	int known = w->number == number;

	p->longest = fmax(p->longest, rtt);
	if (known)
		tell_chooser(d, f, CHOOSE_ACK, now, w->entropy, &ack);
	if (number < flow->expected || !known || w->lost)
		return -1;
	w->resolved = 1;
	flow->inflight--;
	if (number > p->newest)
		p->newest = number;
	if (d->paths.chooser)
		lost = overtaken(d, ring, f, w, now);
	for (; flow->expected < flow->sent; flow->expected++) {
		w = way_of(p, flow->expected);
		if (!w->resolved) {
			if (now - w->sent <= fmin(OVERDUE * p->longest, d->paths.timeout))
				break;
			declare_lost(d, f, w, CHOOSE_TIMEOUT, now);
			lost++;
		}
	}
	return lost;
}

/* Nothing has come back from these flows for a whole timeout: all that was on its way is about to be declared lost. */
void give_up(struct datapath *d, const int64_t *flows, int64_t n, double now)
{
	for (int64_t i = 0; i < n; i++) {
		int64_t f = flows[i];

		for (int64_t number = d->flow[f].expected; number < d->flow[f].sent; number++) {
			const struct way *w = way_of(&d->paths.flights[f], number);

			if (!w->resolved)
				tell_chooser(d, f, CHOOSE_TIMEOUT, now, w->entropy, NULL);
		}
	}
}

/* A port's bytes only grow with its time, in whatever order its records come back. What replaces another is not compared. */
static int goes_back(struct datapath *d, int64_t node, double ts, double tx)
{
	struct known_port *port = &d->paths.known[((uint64_t)node * 2654435761u >> 8) % PORTS_KNOWN];
	int wrong = port->node == node && ((ts > port->ts && tx < port->tx) || (ts < port->ts && tx > port->tx));

	*port = (struct known_port){node, ts, tx};
	return wrong;
}

/* INT of a packet that may have taken any path: of as many switches as all paths have, later at each, from the first switch
 * to the port of the receiver. */
void check_stack(struct datapath *d, int64_t f, const struct record *r)
{
	int wrong = r->hops != d->flow[f].hops;
	int64_t *seen = d->seen_node + f * MAX_HOPS;

	for (int64_t i = 0; i < r->hops && i < MAX_HOPS; i++) {
		double ts = nominal(d, r->hop[i].ts_ns);
		int64_t node = r->hop[i].node, fixed = i == r->hops - 1 ? node : i == 0 ? node >> 16 : -1;

		wrong |= goes_back(d, node, ts, (double)r->hop[i].tx_bytes);
		wrong |= i && ts < nominal(d, r->hop[i - 1].ts_ns);
		if (fixed < 0)
			continue;
		wrong |= seen[i] >= 0 && seen[i] != fixed;
		seen[i] = fixed;
	}
	d->int_faults += wrong;
}

#endif
