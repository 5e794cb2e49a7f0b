/* SPDX-License-Identifier: Apache-2.0
 *
 * What is about to be touched is fetched into the caches: it changes no result.
 */
#ifndef TESTBED_PREFETCH_H
#define TESTBED_PREFETCH_H

#include "forwarding.h"
#include "notices.h"
#include "occasions.h"
#include "packets.h"

#define LARGE 2000 /* lines of a rack: what they and their packets have is more than caches hold */

/* What programs look at: three lines of a cache. */
static void fetch_packet(const struct packet *p)
{
	__builtin_prefetch(p), __builtin_prefetch(&p->bytes[32]), __builtin_prefetch(&p->bytes[96]);
}

/*
 * The packet is the next to come out of the line: fetch the one behind it, as a full queue is more than caches hold; and,
 * of many flows, what its NIC will touch.
 */
static void expect(const struct line *l, const struct packet *p)
{
	const struct roce *packet = (const struct roce *)p->bytes;
	uint32_t flow;

	if (p->next)
		fetch_packet(p->next);
	if (!many_flows || l->receiver >= 0 || is_pause_frame(p) || p->whole)
		return;
	flow = flow_of(packet);
	if (is_data(packet)) {
		__builtin_prefetch(flows_rx.value + flow, 1);
	} else {
		__builtin_prefetch(flows_tx.value + flow, 1);
		expect_feedback(flow);
	}
}

/*
 * The line's first packet is the next of all to arrive: fetch what its node will touch. At a switch that is the port that it
 * leaves by, unless all queues have a say in which one that is.
 */
static void expect_at_node(struct world *w, const struct line *l)
{
	const struct packet *p = l->on_the_way.first;
	const struct line *out;
	int64_t at = w->lines->from, port;

	if (p->next)
		__builtin_prefetch(p->next);
	__builtin_prefetch((const struct arrivals *)w->arrivals + l->to, 1);
	__builtin_prefetch((const struct port_config *)w->port_config + l->to);
	if (l->receiver < 0 || is_pause_frame(p))
		return;
	out = w->routing == ADAPTIVE ? only_next_line(w, l->receiver, p) : next_line(w, l->receiver, p);
	if (!out)
		return;
	port = at + (out - w->lines);
	__builtin_prefetch(out, 1), __builtin_prefetch(out->macs);
	__builtin_prefetch((const struct port_config *)w->port_config + port);
	__builtin_prefetch(&((const struct port_counters *)w->port_counters)[port].packets, 1);
	__builtin_prefetch(&((const struct port_counters *)w->port_counters)[port].last_ns, 1);
	__builtin_prefetch((const struct queue *)w->port_queue + port, 1);
	__builtin_prefetch((const struct red *)w->port_red + port);
	__builtin_prefetch((const struct arrivals *)w->arrivals + at + ((out - w->lines) ^ 1));
}

/*
 * Of a large rack nothing stays in the caches: fetch what comes next. The next occasions are near the top of the heap, and
 * rise: of those two steps below it the line is fetched, of those one step below it the first packet.
 */
static void look_ahead(struct world *w)
{
	int64_t end = end_of_heap(w), last = first_below(TOP) + BELOW;

	for (int64_t at = first_below(TOP); at < last && at < end; at++) {
		int64_t id = id_of(&w->events[at]);

		if (id < w->line_count)
			fetch_packet(w->lines[id].on_the_way.first);
	}
	end = end < last + BELOW * BELOW ? end : last + BELOW * BELOW;
	for (int64_t at = last; at < end; at++) {
		int64_t id = id_of(&w->events[at]);

		if (id < w->line_count)
			__builtin_prefetch(&w->lines[id], 1);
	}
	if (last <= end) {
		int64_t id = id_of(&w->events[earliest_below(w, TOP)]);

		if (id < w->line_count)
			expect_at_node(w, &w->lines[id]);
	}
}

#endif
