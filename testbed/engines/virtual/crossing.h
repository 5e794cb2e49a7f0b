/* SPDX-License-Identifier: Apache-2.0
 *
 * How packets come from one part of a rack to another (parts.h). A line has one sender and delivers in order, and what is
 * drawn for a tick says which line is first: so it does not matter in which order they are taken in.
 */
#ifndef TESTBED_CROSSING_H
#define TESTBED_CROSSING_H

#include "calendar.h"
#include "notices.h"
#include "occasions.h"
#include "packets.h"
#include "parts.h"

#include <stddef.h>
#include <stdlib.h>

/* Something will happen then. */
void expect_moment(struct part *own, int64_t tick)
{
	if (tick < own->next)
		own->next = tick;
}

/* It will come out of the line, which may end in another part. */
static void send_out(struct world *w, struct line *l, struct packet *p)
{
	const struct arrival a = {p->arrives, l - w->lines, p};
	struct part *own = w->part;

	if (l->beyond) {
		add(&own->out[own->all->side][l->beyond - 1], &a);
		surplus--;
		expect_moment(own, p->arrives);
		return;
	}
	if (CLASSES)
		l->on_the_way++;
	await_arrival(w->calendar, &a);
}

/* What others have sent here in the last window. */
static void take_in(struct world *w)
{
	const struct part *own = w->part;

	for (struct part *other = own->all->part; other < own->all->part + own->all->count; other++) {
		struct arrivals_list *from = &other->out[!own->all->side][own->number];

		for (int64_t i = 0; i < from->end; i++)
			await_arrival(w->calendar, &from->of[i]);
		surplus += from->end;
		from->end = 0;
	}
}

/* This thread works for that part now. */
void enter_part(struct part *own)
{
	world = own->world;
	stamp = (uint64_t)world->now;
	serves(own->agent);
	take_in(world);
}

/* It has done what it can in this window. */
void leave_part(struct part *own)
{
	const struct world *w = own->world;
	int64_t earliest = earliest_arrival(w->calendar), over = own->all->limit + 1;

	expect_moment(own, earliest > over ? earliest : over);
	if (w->event_count)
		expect_moment(own, w->events[TOP].time);
	hand_on_surplus();
}

static struct packet *idle_of[MOST_PARTS]; /* threads, while they are not there */

/* A thread begins to work for parts, and ends. The first one is there anyway. */
void enter_thread(int64_t number)
{
	if (number)
		idle_packets = idle_of[number];
}

void leave_thread(int64_t number)
{
	if (number)
		idle_of[number] = idle_packets;
}

/*
 * Of a packet that begins now, until it arrives beyond a cut: at least. Where packets wait for their line its beginning looks
 * at one until it has left.
 */
static int64_t shortest_crossing(const struct world *w)
{
	const int64_t bytes = w->queued || CLASSES ? 0 : HEAD_BYTES;
	int64_t shortest = NEVER / 2;

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
	all->limit = rack->now;
	all->next_sample = rack->next_sample;
	for (struct part *one = all->part; one < all->part + all->count; one++) {
		one->endless = 0;
		one->begun = all->turn - 1;
		one->counted = one->world->events_done;
		one->world->next_sample = NEVER; /* they are taken between windows */
		memcpy((char *)one->world + from, (const char *)rack + from, one->number ? sizeof(*rack) - from : 0);
	}
}

/* The rack is one again. */
void end_windows(struct parts *all)
{
	world = all->part[0].world;
	world->next_sample = all->next_sample;
	stamp = (uint64_t)world->now;
	serves(all->part[0].agent);
}

/* By number, the part where each line ends: what was one until now is cut there. */
void cut_lines(struct parts *all, const int64_t *end)
{
	struct world *rack = all->part[0].world;
	int64_t count = rack->event_count;
	struct occasion *events = needed(malloc((size_t)count * sizeof(*events)));
	struct arrivals_list arrivals = take_all(rack->calendar);

	memcpy(events, rack->events + TOP, (size_t)count * sizeof(*events));
	rack->event_count = 0;
	for (int64_t i = 0; i < count; i++) {
		rack->place[events[i].id] = -1;
		set_event(all->part[end[events[i].id % rack->line_count ^ 1]].world, events[i].id, events[i].time);
	}
	for (const struct arrival *a = arrivals.of + arrivals.first; a < arrivals.of + arrivals.end; a++)
		await_arrival(all->part[end[a->line]].world->calendar, a);
	free(events);
	free(arrivals.of);
	for (int64_t line = 0; line < rack->line_count; line++)
		rack->lines[line].beyond = end[line] == end[line ^ 1] ? 0 : (int32_t)end[line] + 1;
}

#endif
