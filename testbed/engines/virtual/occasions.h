/* SPDX-License-Identifier: Apache-2.0
 *
 * What will happen next but for arrivals (calendar.h): a heap of occasions, at most one per id, by time. At one tick packets
 * arrive first, then lines are free, by number. Each has four below it, which share a line of a cache: of a large rack the heap
 * is more than the nearest cache holds.
 */
#ifndef TESTBED_OCCASIONS_H
#define TESTBED_OCCASIONS_H

#include "world.h"

#define BELOW 4
#define TOP (BELOW - 1) /* where the heap begins in its array: those below one then begin at a multiple of BELOW */

static __thread int top_is_free; /* of the heap: what happens now was there, and most often brings about what takes its place */

/* No two are alike. As one number: which of two comes first is a guess that a processor loses every other time. */
static int before(const struct occasion *a, const struct occasion *b)
{
	return ((unsigned __int128)a->time << 64 | (uint64_t)a->id) < ((unsigned __int128)b->time << 64 | (uint64_t)b->id);
}

/* Those below `at` begin there; and `at` is below this one. */
static int64_t first_below(int64_t at)
{
	return BELOW * (at - TOP + 1);
}

static int64_t above(int64_t at)
{
	return at / BELOW - 1 + TOP;
}

static int64_t end_of_heap(const struct world *w)
{
	return TOP + w->event_count;
}

/* The first of those below `at`, of which there is one. */
static int64_t earliest_below(const struct world *w, int64_t at)
{
	int64_t child = first_below(at), end = end_of_heap(w), found = child;
	const struct occasion *e = &w->events[child];

	if (child + BELOW <= end) { /* all of them */
		int left = before(&e[1], &e[0]), right = 2 + before(&e[3], &e[2]);

		return child + (before(&e[right], &e[left]) ? right : left);
	}
	while (++child < end)
		found = before(&w->events[child], &w->events[found]) ? child : found;
	return found;
}

static void put(struct world *w, int64_t at, struct occasion e)
{
	w->events[at] = e;
	w->place[e.id] = at;
}

static void settle(struct world *w, int64_t at, struct occasion e)
{
	for (; at > TOP && before(&e, &w->events[above(at)]); at = above(at))
		put(w, at, w->events[above(at)]);
	while (first_below(at) < end_of_heap(w)) {
		int64_t child = earliest_below(w, at);

		if (!before(&w->events[child], &e))
			break;
		put(w, at, w->events[child]);
		at = child;
	}
	put(w, at, e);
}

static void set_event(struct world *w, int64_t id, int64_t time)
{
	int64_t at = w->place[id];

	if (at < 0 && top_is_free) {
		top_is_free = 0;
		at = TOP;
	}
	if (at < 0)
		at = TOP + w->event_count++;
	settle(w, at, (struct occasion){time, id});
}

static void remove_event(struct world *w, int64_t id)
{
	int64_t at = w->place[id];

	if (at < 0)
		return;
	w->place[id] = -1;
	w->event_count--;
	if (at < end_of_heap(w))
		settle(w, at, w->events[end_of_heap(w)]);
}

#endif
