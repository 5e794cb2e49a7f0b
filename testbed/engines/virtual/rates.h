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

/* Something happens then and not when it was to. */
static void move_event(struct world *w, int64_t id, int64_t tick)
{
	int64_t at = w->place[id];

	if (TOP <= at && at < end_of_heap(w) && w->events[at].id == id)
		settle(w, at, (struct occasion){tick, id});
}

/* What is on the line comes out so much later or sooner, the rest of the packet that is leaving included. */
static void move_arrivals(struct world *w, const struct line *l, int64_t per_byte, int64_t delay)
{
	struct arrivals_list all = take_all(w->calendar);

	for (struct arrival *a = all.of + all.first; a < all.of + all.end; a++) {
		if (w->lines + a->line == l) {
			int64_t time = stretched(w->now, a->time - l->delay, l->per_byte, per_byte) + delay;

			a->packet->arrives = a->time = time > w->now ? time : w->now;
		}
		await_arrival(w->calendar, a);
	}
	free(all.of);
}

/* Wherever it ends and begins, of a rack in parts. Nothing overtakes anything. */
static void change_line(struct world *w, struct line *l, int64_t per_byte, int64_t delay)
{
	const struct parts *all = w->part ? w->part->all : NULL;

	l->free = stretched(w->now, l->free, l->per_byte, per_byte);
	for (int64_t i = 0; i < (all ? all->count : 1); i++) {
		struct world *own = all ? all->part[i].world : w;

		move_arrivals(own, l, per_byte, delay);
		if (l->busy)
			move_event(own, l - w->lines, l->free);
	}
	l->per_byte = per_byte;
	l->delay = delay;
}

/* Before the port's configuration changes. */
void set_rate(struct world *w, int64_t line, int64_t per_byte)
{
	struct line *l = &w->lines[line];

#if !CLASSES
	settle_queue(w, l->from);
#endif
	change_line(w, l, per_byte, l->delay);
}

void set_delay(struct world *w, int64_t line, int64_t delay)
{
	struct line *l = &w->lines[line];

	change_line(w, l, l->per_byte, delay);
}

#endif
