/* SPDX-License-Identifier: Apache-2.0
 *
 * A binary heap of moments, at most one per id: a new moment of an id replaces its old one, so that the heap never holds
 * more than there are ids, however often they change. Of equal moments that of the lower id is first, whatever came before.
 */
#ifndef TESTBED_HEAP_H
#define TESTBED_HEAP_H

#include <math.h>
#include <stdint.h>

struct event {
	double time;
	int64_t id;
};

/* Mirrored in structs.py. */
struct heap {
	struct event *events;
	int64_t *place; /* of each id in `events`; -1 for none */
	int64_t length;
};

static inline double heap_first(const struct heap *h)
{
	return h->length ? h->events[0].time : INFINITY;
}

static inline void heap_put(struct heap *h, int64_t at, struct event e)
{
	h->events[at] = e;
	h->place[e.id] = at;
}

static inline int heap_before(const struct event *a, const struct event *b)
{
	return a->time < b->time || (a->time == b->time && a->id < b->id);
}

/* Put `e` in its place, given that `at` is free. */
static inline void heap_settle(struct heap *h, int64_t at, struct event e)
{
	int64_t child;

	for (; at > 0 && heap_before(&e, &h->events[(at - 1) / 2]); at = (at - 1) / 2)
		heap_put(h, at, h->events[(at - 1) / 2]);
	while ((child = 2 * at + 1) < h->length) {
		if (child + 1 < h->length && heap_before(&h->events[child + 1], &h->events[child]))
			child++;
		if (!heap_before(&h->events[child], &e))
			break;
		heap_put(h, at, h->events[child]);
		at = child;
	}
	heap_put(h, at, e);
}

static inline void heap_remove(struct heap *h, int64_t id)
{
	int64_t at = h->place[id];

	if (at < 0)
		return;
	h->place[id] = -1;
	if (at < --h->length)
		heap_settle(h, at, h->events[h->length]);
}

/* The moment of `id` is `time` from now on; infinity for never. */
static inline void heap_set(struct heap *h, int64_t id, double time)
{
	int64_t at = h->place[id];

	if (time == INFINITY)
		heap_remove(h, id);
	else if (at < 0 || h->events[at].time != time)
		heap_settle(h, at < 0 ? h->length++ : at, (struct event){time, id});
}

/* Take out the earliest, of which there must be one. */
static inline int64_t heap_pop(struct heap *h)
{
	int64_t id = h->events[0].id;

	heap_remove(h, id);
	return id;
}

#endif
