/* SPDX-License-Identifier: Apache-2.0
 *
 * What is about to be touched is fetched into the caches: it changes no result.
 */
#ifndef TESTBED_PREFETCH_H
#define TESTBED_PREFETCH_H

#include "calendar.h"
#include "forwarding.h"
#include "notices.h"
#include "packets.h"

#define NEAR 6 /* arrivals: meanwhile a line of a cache comes, */
#define FAR 12 /* and that of what was fetched before */

/* What a NIC will touch. */
static void expect_at_host(const struct packet *p)
{
	const struct roce *packet = (const struct roce *)p->bytes;
	uint32_t flow;

	if (is_pause_frame(p) || p->whole)
		return;
	flow = flow_of(packet);
	if (is_data(packet)) {
		__builtin_prefetch(flows_rx.value + flow, 1);
		expect_arrival(flow);
	} else {
		__builtin_prefetch(flows_tx.value + flow, 1);
		expect_feedback(flow);
	}
}

/*
 * What a switch will touch: of the port that the packet leaves by, unless all queues have a say in which one that is. Returns
 * the port, or 0.
 */
static int64_t expect_at_switch(struct world *w, const struct line *l, const struct packet *p)
{
	const struct line *out;
	int64_t at = w->lines->from, port;

	__builtin_prefetch((const struct arrivals *)w->arrivals + l->to, 1);
	__builtin_prefetch((const struct port_config *)w->port_config + l->to);
	if (is_pause_frame(p))
		return 0;
	out = w->routing == ADAPTIVE ? only_next_line(w, l->receiver, p) : next_line(w, l->receiver, p);
	if (!out)
		return 0;
	port = at + (out - w->lines);
	__builtin_prefetch(out, 1), __builtin_prefetch(out->macs);
	__builtin_prefetch((const struct port_config *)w->port_config + port);
	__builtin_prefetch(&((const struct port_counters *)w->port_counters)[port].packets, 1);
	__builtin_prefetch(&((const struct port_counters *)w->port_counters)[port].last_ns, 1);
	__builtin_prefetch((const struct queue *)w->port_queue + port, 1);
	__builtin_prefetch((const struct red *)w->port_red + port);
	__builtin_prefetch((const struct arrivals *)w->arrivals + at + ((out - w->lines) ^ 1));
	return port;
}

/* Where the queue that a packet will find there is counted. */
static void expect_queue(const struct world *w, int64_t port)
{
	const struct port_config *config = (const struct port_config *)w->port_config + port;
	const struct queue *queue = (const struct queue *)w->port_queue + port;
	uint64_t drained = (stamp - queue->last_ns) * config->drain;
	uint32_t bin = drained < queue->bytes ? bin_of((uint32_t)((queue->bytes - drained) >> RATE_SHIFT)) : 0;

	if (bin < QUEUE_BINS)
		__builtin_prefetch(&((const struct port_counters *)w->port_counters)[port].histogram[bin], 1);
}

/* Fetch packets that come in soon, then what they will touch. */
static void look_ahead(struct world *w)
{
	const struct arrivals_list *open = &w->calendar->open;
	const struct arrival *a = open->of + open->first;
	const struct line *l;
	int64_t *port;

	if (open->end - open->first <= FAR)
		return;
	__builtin_prefetch(&w->lines[a[FAR].line]);
	fetch_packet(a[FAR].packet);
	port = &w->calendar->expected[w->calendar->looks++ % EXPECTED];
	if (*port)
		expect_queue(w, *port);
	*port = 0;
	l = &w->lines[a[NEAR].line];
	if (l->receiver < 0)
		expect_at_host(a[NEAR].packet);
	else if (w->line_count > LARGE)
		*port = expect_at_switch(w, l, a[NEAR].packet);
}

#endif
