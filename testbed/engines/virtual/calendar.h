/* SPDX-License-Identifier: Apache-2.0
 *
 * When packets arrive: a calendar (R. Brown, Calendar Queues, CACM 1988), of cells of the same length. What is in a cell is in
 * no order before its time is near; then it is, in `open`, so that what happens next is known, and fetched (prefetch.h). At one
 * tick packets arrive in an order that is drawn for that tick by the numbers of their lines, so that no line is always before
 * another: it is the same on every machine, whatever else is there. Of one line they arrive as they were sent.
 */
#ifndef TESTBED_CALENDAR_H
#define TESTBED_CALENDAR_H

#include "../../agent/memory.h"
#include "packets.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>

#define ID_BITS 24 /* of a line's number */
#define CELLS 2048 /* a power of two: behind the last one is little, of queues that take long */
#define SPARES 64
#define PIECES 64 /* of a cell, by which it is put in order */
#define AHEAD 16 /* arrivals that are in order before they are due */
#define EXPECTED 3 /* arrivals whose ports are known before they are due */

struct calendar {
	int64_t shift; /* ticks of a piece, as a power of two */
	struct arrivals_list open; /* by time */
	struct arrivals_list later; /* behind the last cell, as they came */
	int64_t first_later; /* the first one's time */
	int64_t opened; /* number of the last cell that is in `open` */
	int64_t end; /* behind the last one */
	int64_t held; /* arrivals in cells */
	int64_t expected[EXPECTED]; /* ports by which they leave, 0 for none; prefetch.h */
	int64_t looks; /* ahead, so far */
	int64_t spare_count;
	struct arrivals_list spare[SPARES]; /* the memory of cells in which nothing is any more */
	struct arrivals_list cells[CELLS];
};

static uint64_t drawn(const struct arrival *a)
{
	uint64_t mixed = (uint64_t)a->time * 0x9e3779b97f4a7c15ull ^ (uint64_t)a->line * 0xbf58476d1ce4e5b9ull;

	return (mixed * 0x94d049bb133111ebull) >> (ID_BITS + 1) << ID_BITS | (uint64_t)a->line;
}

static int comes_before(const struct arrival *a, const struct arrival *b)
{
	return a->time < b->time || (a->time == b->time && drawn(a) < drawn(b));
}

/* For so many more. */
static void make_room(struct arrivals_list *list, int64_t more)
{
	int64_t count = list->end - list->first;
	struct arrival *of = list->of;

	if (list->end + more <= list->room)
		return;
	if (count + more > list->room / 2) {
		list->room = 2 * (count + more) + 14;
		of = needed(malloc((size_t)list->room * sizeof(*of)));
	}
	if (count)
		memmove(of, list->of + list->first, (size_t)count * sizeof(*of));
	if (of != list->of)
		free(list->of);
	*list = (struct arrivals_list){of, 0, count, list->room};
}

static void add(struct arrivals_list *list, const struct arrival *a)
{
	make_room(list, 1);
	list->of[list->end++] = *a;
}

/* The one behind all is moved to where it belongs, of those from `first` on: most often it is nearly there. */
static void put_in_order(struct arrival *first, struct arrival *last)
{
	struct arrival a = *last;

	for (; last > first && comes_before(&a, last - 1); last--)
		*last = last[-1];
	*last = a;
}

static void put_in_cell(struct calendar *c, struct arrivals_list *cell, const struct arrival *a)
{
	if (!cell->of && c->spare_count)
		*cell = c->spare[--c->spare_count];
	add(cell, a);
	c->held++;
}

static void await_arrival(struct calendar *c, const struct arrival *a)
{
	int64_t number = a->time / PIECES >> c->shift;

	if (number <= c->opened) {
		add(&c->open, a);
		put_in_order(c->open.of + c->open.first, c->open.of + c->open.end - 1);
	} else if (number < c->end) {
		put_in_cell(c, &c->cells[number % CELLS], a);
	} else {
		c->first_later = a->time < c->first_later ? a->time : c->first_later;
		add(&c->later, a);
	}
}

/* All cells are empty: they begin anew at the first of what comes later. */
static void turn_over(struct calendar *c)
{
	struct arrivals_list later = c->later;

	c->opened = (c->first_later / PIECES >> c->shift) - 1;
	c->end = c->opened + CELLS;
	c->first_later = NEVER;
	c->later = (struct arrivals_list){0};
	for (int64_t i = later.first; i < later.end; i++)
		await_arrival(c, &later.of[i]);
	free(later.of);
}

/* First by pieces of the cell, then each piece. */
static void open_cell(struct calendar *c)
{
	struct arrivals_list *cell = &c->cells[++c->opened % CELLS];
	int64_t before[PIECES + 1] = {0};
	struct arrival *to;

	if (!cell->end)
		return;
	make_room(&c->open, cell->end);
	to = c->open.of + c->open.end;
	for (int64_t i = 0; i < cell->end; i++)
		before[1 + (cell->of[i].time >> c->shift) % PIECES]++;
	for (int64_t i = 0; i < PIECES; i++)
		before[i + 1] += before[i];
	for (int64_t i = 0; i < cell->end; i++)
		to[before[(cell->of[i].time >> c->shift) % PIECES]++] = cell->of[i];
	for (int64_t i = 1; i < cell->end; i++)
		put_in_order(to, to + i);
	c->open.end += cell->end;
	c->held -= cell->end;
	cell->end = 0;
	if (c->spare_count < SPARES)
		c->spare[c->spare_count++] = *cell;
	else
		free(cell->of);
	*cell = (struct arrivals_list){0};
}

/* When the first one comes that is not after then, or a later one. */
static int64_t next_arrival(struct calendar *c, int64_t until)
{
	int64_t last = until / PIECES >> c->shift;

	while (c->open.end - c->open.first < AHEAD) {
		if (!c->held && c->first_later <= until && c->first_later < NEVER)
			turn_over(c);
		if (!c->held || c->opened > last)
			break;
		open_cell(c);
	}
	return c->open.first < c->open.end ? c->open.of[c->open.first].time : NEVER;
}

/* Not after the first one. */
static int64_t earliest_arrival(const struct calendar *c)
{
	if (c->open.first < c->open.end)
		return c->open.of[c->open.first].time;
	return c->held ? (c->opened + 1) * PIECES << c->shift : c->first_later;
}

/* Those of a line in their order. Nothing remains. */
static struct arrivals_list take_all(struct calendar *c)
{
	struct arrivals_list all;

	while (c->held)
		open_cell(c);
	all = c->open;
	for (int64_t i = 0; i < c->later.end; i++)
		add(&all, &c->later.of[i]);
	c->open = (struct arrivals_list){0};
	c->later.end = c->end = 0;
	c->first_later = NEVER;
	return all;
}

/* Whose cells are so many ticks long, or up to half of it. */
struct calendar *make_calendar(int64_t cell)
{
	struct calendar *c = needed(calloc(1, sizeof(*c)));

	for (c->shift = 0; cell / PIECES >> c->shift > 1; c->shift++)
		;
	c->first_later = NEVER;
	return c;
}

void forget_calendar(struct calendar *c)
{
	for (int64_t i = 0; i < CELLS; i++)
		free(c->cells[i].of);
	for (int64_t i = 0; i < c->spare_count; i++)
		free(c->spare[i].of);
	free(c->open.of);
	free(c->later.of);
	free(c);
}

#endif
