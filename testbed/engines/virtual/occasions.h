/* SPDX-License-Identifier: Apache-2.0
 *
 * What will happen next: a binary heap of occasions, at most one per id, by time and then by order of being brought about,
 * so that the order is the same on every machine.
 */
#ifndef TESTBED_OCCASIONS_H
#define TESTBED_OCCASIONS_H

#include "world.h"

static int top_is_free; /* of the heap: what happens now was there, and most often brings about what takes its place */

static int before(const struct occasion *a, const struct occasion *b)
{
	return a->time < b->time || (a->time == b->time && a->order < b->order);
}

static void put(struct world *w, int64_t at, struct occasion e)
{
	w->events[at] = e;
	w->place[e.id] = at;
}

static void settle(struct world *w, int64_t at, struct occasion e)
{
	int64_t child;

	for (; at > 0 && before(&e, &w->events[(at - 1) / 2]); at = (at - 1) / 2)
		put(w, at, w->events[(at - 1) / 2]);
	while ((child = 2 * at + 1) < w->event_count) {
		if (child + 1 < w->event_count && before(&w->events[child + 1], &w->events[child]))
			child++;
		if (!before(&w->events[child], &e))
			break;
		put(w, at, w->events[child]);
		at = child;
	}
	put(w, at, e);
}

static void set_event(struct world *w, int64_t id, int64_t time, int64_t order)
{
	int64_t at = w->place[id];

	if (at < 0 && top_is_free) {
		top_is_free = 0;
		at = 0;
	}
	settle(w, at < 0 ? w->event_count++ : at, (struct occasion){time, order, id});
}

static void remove_event(struct world *w, int64_t id)
{
	int64_t at = w->place[id];

	if (at < 0)
		return;
	w->place[id] = -1;
	if (at < --w->event_count)
		settle(w, at, w->events[w->event_count]);
}

#endif
