/* SPDX-License-Identifier: Apache-2.0
 *
 * A line that gets another rate or delay while packets are on it.
 */
#ifndef TESTBED_RATES_H
#define TESTBED_RATES_H

#include "lines.h"

static int64_t stretched(int64_t now, int64_t time, int64_t from, int64_t to)
{
	return time <= now ? time : now + (int64_t)((__int128)(time - now) * to / from);
}

static void move_event(struct world *w, int64_t id, int64_t time)
{
	for (int64_t at = TOP; at < end_of_heap(w); at++) {
		if (id_of(&w->events[at]) == id) {
			settle(w, at, occasion_of(w, id, time));
			return;
		}
	}
}

#if !CLASSES
/* What a port's queue has drained since a packet came, which the programs look at when the next one comes. */
static void settle_queue(struct world *w, int64_t port)
{
	const struct port_config *config = (const struct port_config *)w->port_config + port;
	struct port_counters *count = (struct port_counters *)w->port_counters + port;
	struct queue *queue = (struct queue *)w->port_queue + port;
	uint64_t now = (uint64_t)w->now, since = now > queue->last_ns ? now - queue->last_ns : 0, before = queue->bytes;
	uint64_t drained = since > config->longest_ns || since * config->drain > before ? before : since * config->drain;
	uint64_t busy = drained / config->drain;

	count->area += (uint64_t)((unsigned __int128)(before - drained / 2) * busy >> RATE_SHIFT);
	queue->bytes = before - drained;
	queue->last_ns = now;
	count->queue = queue->bytes >> RATE_SHIFT;
	count->last_ns = now;
}
#endif

/* Before the port's configuration changes. All that has not left yet leaves so much sooner or later, the rest of the packet that is leaving included. */
void set_rate(struct world *w, int64_t line, int64_t per_byte)
{
	struct line *l = &w->lines[line];
	struct packet *first = l->on_the_way.first;

#if !CLASSES
	settle_queue(w, l->from);
#endif
	for (struct packet *p = first; p; p = p->next)
		p->arrives = stretched(w->now, p->arrives - l->delay, l->per_byte, per_byte) + l->delay;
	l->free = stretched(w->now, l->free, l->per_byte, per_byte);
	l->per_byte = per_byte;
	if (first)
		move_event(w, line, first->arrives);
	if (l->busy)
		move_event(w, w->line_count + line, l->free);
}

/* It gets longer or shorter: what is on it arrives so much later or sooner, and nothing overtakes anything. */
void set_delay(struct world *w, int64_t line, int64_t delay)
{
	struct line *l = &w->lines[line];
	int64_t more = delay - l->delay;

	for (struct packet *p = l->on_the_way.first; p; p = p->next)
		p->arrives = p->arrives + more > w->now ? p->arrives + more : w->now;
	l->delay = delay;
	if (l->on_the_way.first)
		move_event(w, line, l->on_the_way.first->arrives);
}

#endif
