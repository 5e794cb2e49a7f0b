/* SPDX-License-Identifier: Apache-2.0
 *
 * How packets come from one part of a rack to another (parts.h). A line has one sender and delivers in order, and what is
 * drawn for a tick says which line is first: so it does not matter in which order they are taken in.
 */
#ifndef TESTBED_CROSSING_H
#define TESTBED_CROSSING_H

#include "occasions.h"
#include "packets.h"
#include "parts.h"
#include "prefetch.h"
#include "sampler.h"

#include <stddef.h>

#define KEPT 4096 /* packets that a part keeps of another's before it gives half of them back */

/* It will come out of the line. */
static void come_out(struct world *w, struct line *l, struct packet *p)
{
	append(&l->on_the_way, p);
	if (l->on_the_way.first == p) {
		set_event(w, l - w->lines, p->arrives);
		expect(l, p);
	}
}

/* The line ends in another part. */
static void cross(struct world *w, struct line *l, struct packet *p)
{
	struct part *own = w->part;

	p->order = l - w->lines;
	append(&own->out[own->side][l->beyond - 1], p);
	own->kept[l->beyond - 1]--;
	if (p->arrives < own->next)
		own->next = p->arrives;
}

/* Whose packets end here has none left one day, if nobody gives them back. */
static void give_back_idle(struct part *own, int64_t other)
{
	struct fifo *to = &own->back[own->side][other];

	if (own->kept[other] < KEPT)
		return;
	for (int64_t i = 0; i < KEPT / 2 && idle_packets; i++) {
		struct packet *p = idle_packets;

		idle_packets = p->next;
		append(to, p);
		own->kept[other]--;
	}
}

/* What others have sent here in the last window. */
static void take_in(struct world *w)
{
	struct part *own = w->part;

	for (int64_t i = 0; i < own->all->count; i++) {
		struct part *other = &own->all->part[i];
		struct fifo *from = &other->out[!own->side][own->number], *back = &other->back[!own->side][own->number];

		while (from->first) {
			struct packet *p = take(from);

			own->kept[i]++;
			come_out(w, &w->lines[p->order], p);
		}
		while (back->first) {
			own->kept[i]++;
			drop(take(back));
		}
		give_back_idle(own, i);
	}
}

/* All instants so far are over: decisions that were recorded can be taken. */
static void give_records(struct parts *all)
{
	int64_t held = 0;

	for (int64_t i = 0; i < all->count; i++)
		held += *all->part[i].recorded;
	if (held >= all->room)
		all->full();
}

/* Of all parts: what is due between two windows, and how long the next one is. */
static void open_window(struct parts *all)
{
	struct world *w = all->part[0].world;
	int64_t first = NEVER, ended = 0;

	for (int64_t i = 0; i < all->count; i++) {
		ended += all->part[i].ended;
		first = all->part[i].next < first ? all->part[i].next : first;
	}
	all->limit = -1;
	if (all->full)
		give_records(all);
	if (ended == all->count)
		return;
	w->next_sample = all->next_sample;
	take_samples(w, first);
	all->next_sample = w->next_sample;
	w->next_sample = NEVER;
	all->limit = first + all->lookahead - 1;
	if (all->next_sample < all->limit)
		all->limit = all->next_sample;
}

/* The part has done everything up to its limit, and nothing else is due before `until`. */
static void next_window(struct world *w, int64_t until)
{
	struct part *own = w->part;

	if (w->event_count && w->events[TOP].time < until)
		until = w->events[TOP].time;
	if (until < own->next)
		own->next = until;
	meet(own->all, open_window);
	w->limit = own->all->limit;
	own->next = NEVER;
	own->side = !own->side;
	take_in(w);
}

/* The others have not ended yet. */
void leave_windows(struct world *w)
{
	w->part->ended = 1;
	while (w->limit >= 0)
		next_window(w, NEVER);
}

/* This thread works for that part. The first part's is the one that is there anyway. */
void enter_part(struct part *own)
{
	world = own->world;
	stamp = (uint64_t)world->now;
	if (own->number)
		idle_packets = own->idle;
}

void leave_part(struct part *own)
{
	if (own->number)
		own->idle = idle_packets;
}

/*
 * Of a packet that begins now, until it arrives beyond a cut: at least. Where packets wait for their line its beginning looks
 * at one until it has left.
 */
static int64_t shortest_crossing(const struct world *w)
{
	const int64_t bytes = w->queued || CLASSES ? 0 : HEAD_BYTES;
	int64_t shortest = NEVER;

	for (const struct line *l = w->lines; l < w->lines + w->line_count; l++) {
		int64_t time = l->delay + (bytes * l->per_byte >> TICK_SHIFT);

		if (l->beyond && time < shortest)
			shortest = time;
	}
	return shortest > 0 ? shortest : 1;
}

/* The rack's settings may have changed. */
void begin_windows(struct parts *all)
{
	const size_t from = offsetof(struct world, line_count);
	struct world *rack = all->part[0].world;

	all->lookahead = shortest_crossing(rack);
	all->next_sample = rack->next_sample;
	for (struct part *one = all->part; one < all->part + all->count; one++) {
		one->ended = 0;
		one->world->limit = rack->now;
		one->world->next_sample = NEVER; /* they are taken between windows */
		memcpy((char *)one->world + from, (const char *)rack + from, one->number ? sizeof(*rack) - from : 0);
	}
}

/* By number, the part where each line ends: what was one until now is cut there. */
void cut_lines(struct parts *all, const int64_t *end)
{
	struct world *rack = all->part[0].world;
	int64_t count = rack->event_count;
	struct occasion *events = needed(malloc((size_t)count * sizeof(*events)));

	memcpy(events, rack->events + TOP, (size_t)count * sizeof(*events));
	rack->event_count = 0;
	for (int64_t i = 0; i < count; i++) {
		int64_t id = id_of(&events[i]), line = id % rack->line_count;
		struct world *w = all->part[id < rack->line_count ? end[line] : end[line ^ 1]].world;

		if (id >= rack->line_count)
			rack->place[id] = -1;
		set_event(w, id, events[i].time);
	}
	free(events);
	for (int64_t line = 0; line < rack->line_count; line++)
		rack->lines[line].beyond = end[line] == end[line ^ 1] ? 0 : (int32_t)end[line] + 1;
}

#endif
