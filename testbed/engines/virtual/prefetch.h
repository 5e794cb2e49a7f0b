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

#define LARGE 2000 /* lines of a rack: what they and their packets have is more than caches hold */
#define NEAR 6 /* arrivals: meanwhile a line of a cache comes, */
#define FAR 12 /* and that of what was fetched before */

/* What a NIC will touch. */
static void expect_at_host(const struct packet *p)
{
	const struct roce *packet = (const struct roce *)p->bytes;
	uint32_t flow;

	if (!many_flows || is_pause_frame(p) || p->whole)
		return;
	flow = flow_of(packet);
	if (is_data(packet)) {
		__builtin_prefetch(flows_rx.value + flow, 1);
	} else {
		__builtin_prefetch(flows_tx.value + flow, 1);
		expect_feedback(flow);
	}
}

/* What a switch will touch: of the port that the packet leaves by, unless all queues have a say in which one that is. */
static void expect_at_switch(struct world *w, const struct line *l, const struct packet *p)
{
	const struct line *out;
	int64_t at = w->lines->from, port;

	__builtin_prefetch((const struct arrivals *)w->arrivals + l->to, 1);
	__builtin_prefetch((const struct port_config *)w->port_config + l->to);
	if (is_pause_frame(p))
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

/* Of many flows and of a large rack nothing stays in the caches: fetch packets that come in soon, then what they will touch. */
static void look_ahead(struct world *w)
{
	const struct arrivals_list *open = &w->calendar->open;
	const struct arrival *a = open->of + open->first;
	const struct line *l;

	if (open->end - open->first <= FAR)
		return;
	__builtin_prefetch(&w->lines[a[FAR].line]);
	fetch_packet(a[FAR].packet);
	l = &w->lines[a[NEAR].line];
	if (l->receiver < 0)
		expect_at_host(a[NEAR].packet);
	else if (w->line_count > LARGE)
		expect_at_switch(w, l, a[NEAR].packet);
}

#endif
