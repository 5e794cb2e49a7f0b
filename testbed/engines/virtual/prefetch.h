/* SPDX-License-Identifier: Apache-2.0
 *
 * What is about to be touched is fetched into the caches: it changes no result.
 */
#ifndef TESTBED_PREFETCH_H
#define TESTBED_PREFETCH_H

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
	if (!many_flows || l->receiver >= 0 || p->length == PFC_FRAME)
		return;
	flow = flow_of(packet);
	if (packet->opcode == BTH_SEND_ONLY_IMM) {
		__builtin_prefetch(flows_rx.value + flow, 1);
	} else {
		__builtin_prefetch(flows_tx.value + flow, 1);
		expect_feedback(flow);
	}
}

/*
 * Of a large rack nothing stays in the caches: fetch what comes next. The next occasions are near the top of the heap, and
 * rise: first the line is fetched, then its first packet, then the packet behind that.
 */
static void look_ahead(const struct world *w)
{
	int64_t count = w->event_count < 15 ? w->event_count : 15;

	for (int64_t at = 1; at < count; at++) {
		const struct line *l = &w->lines[w->events[at].id];
		const struct packet *p;

		if (w->events[at].id >= w->line_count)
			continue;
		if (at >= 7) {
			__builtin_prefetch(&l->on_the_way), __builtin_prefetch(l);
			continue;
		}
		p = l->on_the_way.first;
		fetch_packet(p);
		if (at < 3 && p && p->next)
			__builtin_prefetch(p->next);
	}
}

#endif
