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

#include <stddef.h>
#include <stdlib.h>

#define AHEAD 4 /* packets: meanwhile a line of a cache comes */

/* It will come out of the line. */
static void come_out(struct world *w, struct line *l, struct packet *p)
{
	append(&l->on_the_way, p);
	if (l->on_the_way.first == p) {
		set_event(w, l - w->lines, p->arrives);
		expect(l, p);
	}
}

/* Something will happen then. */
void expect_moment(struct part *own, int64_t tick)
{
	if (tick < own->next)
		own->next = tick;
}

/* The line ends in another part. */
static void cross(struct world *w, struct line *l, struct packet *p)
{
	struct part *own = w->part;
	struct crossings *out = &own->out[own->all->side][l->beyond - 1];

	if (out->count == out->room) {
		out->room = out->room ? 2 * out->room : 64;
		out->of = needed(realloc(out->of, (size_t)out->room * sizeof(*out->of)));
	}
	out->of[out->count++] = (struct crossing){l - w->lines, p};
	surplus--;
	expect_moment(own, p->arrives);
}

/* It is in another core's cache, or in none: fetch it, its line, and, once that is here, the packet that it goes behind. */
static void expect_crossing(const struct world *w, const struct crossings *from, int64_t i)
{
	if (i + 2 * AHEAD < from->count) {
		fetch_packet(from->of[i + 2 * AHEAD].packet);
		__builtin_prefetch(&w->lines[from->of[i + 2 * AHEAD].line], 1);
	}
	if (i + AHEAD >= 0 && i + AHEAD < from->count)
		__builtin_prefetch(w->lines[from->of[i + AHEAD].line].on_the_way.last, 1);
}

/* What others have sent here in the last window. */
static void take_in(struct world *w)
{
	const struct part *own = w->part;

	for (struct part *other = own->all->part; other < own->all->part + own->all->count; other++) {
		struct crossings *from = &other->out[!own->all->side][own->number];

		for (int64_t i = -2 * AHEAD; i < from->count; i++) {
			expect_crossing(w, from, i);
			if (i >= 0)
				come_out(w, &w->lines[from->of[i].line], from->of[i].packet);
		}
		surplus += from->count;
		from->count = 0;
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
	if (own->world->event_count)
		expect_moment(own, own->world->events[TOP].time);
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
