// SPDX-License-Identifier: Apache-2.0
/*
 * The threads of a rack that is cut into parts (parts.h). They are there for one call; between calls the rack is Python's,
 * and all that parts have counted is the first one's.
 */
#include "parts.h"
#include "../../agent/datapath.h"
#include "../../agent/decisions.h"
#include "../../agent/memory.h"
#include "balance.h"
#include "host.h"
#include "world.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct thread {
	struct parts *all;
	int64_t number;
	pthread_t id;
};

static int part_failed(const struct part *one)
{
	return has_failed(&one->agent->decisions) || one->agent->paths.failed || one->agent->credits.failed;
}

/* Its controller has failed, or asks without end: time goes on without it, for the others. */
static void go_on_without(struct part *own, int64_t tick)
{
	struct world *w = own->world;

	while (run_until_fed(w, tick))
		w->feedback->submitted = w->resumed_count = 0;
}

/* To the end of the window. */
static void go_on(struct part *own)
{
	const struct parts *all = own->all;
	struct datapath *d = own->agent;

	if (all->draining) {
		drain(own->world, all->limit);
		return;
	}
	if (!own->endless && own->world->now < all->limit)
		own->endless = serve(d, fmin(nominal(d, (uint64_t)all->limit), all->until));
	else if (!own->endless) /* a sample is due at the end of this tick, and something before it */
		own->endless = serve_moment(d);
	if (part_failed(own) && !own->failed_at)
		own->failed_at = own->world->now;
	go_on_without(own, all->limit);
	if (!has_failed(&d->decisions) && !own->endless)
		expect_moment(own, tick_of(d, next_moment(d)));
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
	int64_t first = all->last;

	for (int64_t i = 0; i < all->count; i++) {
		first = all->part[i].next < first ? all->part[i].next : first;
		all->part[i].next = NEVER;
	}
	if (all->full)
		give_records(all);
	all->side = !all->side;
	if (first == NEVER || all->limit == all->last) {
		all->limit = ENDED;
		return;
	}
	w->next_sample = all->next_sample;
	take_samples(w, first);
	all->next_sample = w->next_sample;
	w->next_sample = NEVER;
	all->limit = first + all->lookahead - 1;
	if (all->next_sample < all->limit)
		all->limit = all->next_sample;
	if (all->last < all->limit)
		all->limit = all->last;
	share_out(all);
	all->opened++;
}

/* One window, or what was left over when the last one was. */
static void pass(struct part *own)
{
	enter_part(own);
	if (own->all->limit != ENDED)
		go_on(own);
	leave_part(own);
}

static double wall_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* In this window, to other parts. */
static int64_t packets_sent(const struct part *own)
{
	int64_t sent = 0;

	for (int64_t i = 0; i < own->all->count; i++)
		sent += own->out[own->all->side][i].end;
	return sent;
}

/* As `pass`; what it took is kept, as far as there is room. */
static void pass_watched(struct part *own, int64_t thread)
{
	const struct parts *all = own->all;
	int64_t events = own->world->events_done;
	double began = wall_seconds();

	pass(own);
	if (all->limit != ENDED && 0 < all->opened && all->opened <= all->loads_room) {
		struct load *load = &all->loads[(all->opened - 1) * all->count + own->number];

		load->seconds += wall_seconds() - began;
		load->thread = thread;
		load->events += own->world->events_done - events;
		load->crossed += packets_sent(own);
	}
}

/* Unless another thread has begun it in this window. */
static void pass_once(struct part *own, int64_t thread)
{
	const struct parts *all = own->all;

	if (__atomic_exchange_n(&own->begun, all->turn, __ATOMIC_RELAXED) == all->turn)
		return;
	if (all->loads)
		pass_watched(own, thread);
	else
		pass(own);
}

/* Window after window: parts that are this thread's then, and those that others have not come to, their last ones first. */
static void *work(void *of)
{
	const struct thread *own = of;
	struct parts *all = own->all;

	enter_thread(own->number);
	for (;;) {
		for (int64_t i = 0; i < all->count; i++) {
			if (all->part[i].thread == own->number)
				pass_once(&all->part[i], own->number);
		}
		for (int64_t i = all->count - 1; i >= 0; i--) {
			if (all->part[i].thread != own->number)
				pass_once(&all->part[i], own->number);
		}
		if (all->limit == ENDED)
			break;
		meet(all, open_window);
	}
	leave_thread(own->number);
	return NULL;
}

static void add_counts(struct histogram *to, const struct histogram *from)
{
	for (int64_t i = 0; i < to->bins; i++) {
		to->counts[i] += from->counts[i];
		from->counts[i] = 0;
	}
	*to->top = fmax(*to->top, *from->top);
	*to->bottom = fmin(*to->bottom, *from->bottom);
}

static void add_number(int64_t *to, int64_t *from)
{
	*to += *from;
	*from = 0;
}

/* What an agent has counted is the first one's. */
static void add_agent(struct datapath *to, struct datapath *from)
{
	add_counts(&to->rtts, &from->rtts);
	add_counts(&to->pacing, &from->pacing);
	add_counts(&to->feedback, &from->feedback);
	add_counts(to->decisions.times, from->decisions.times);
	if (to->messages.times)
		add_counts(to->messages.times, from->messages.times);
	add_number(&to->int_faults, &from->int_faults);
	add_number(&to->above_line, &from->above_line);
	add_number(&to->transport.in_error, &from->transport.in_error);
	add_number(&to->decisions.steps, &from->decisions.steps);
	add_number(&to->decisions.counts[0], &from->decisions.counts[0]);
	add_number(&to->decisions.counts[1], &from->decisions.counts[1]);
	*to->decisions.seconds += *from->decisions.seconds;
	*from->decisions.seconds = 0;
}

static void add_part(const struct part *to, const struct part *from)
{
	if (to->world->now < from->world->now) /* it had the last packet */
		to->world->now = from->world->now;
	add_number(&to->world->unroutable, &from->world->unroutable);
	add_number(&to->world->events_done, &from->world->events_done);
	add_agent(to->agent, from->agent);
}

static void copy_deciders(struct parts *all)
{
	for (int64_t i = 1; i < all->count; i++) {
		for (int64_t k = 0; k < all->decider_count; k++)
			all->part[i].deciders[k] = *all->deciders[k];
	}
}

/* Who has failed first speaks for all: returns whether anybody has. */
int64_t find_failure(struct parts *all)
{
	struct datapath *agent = all->part[0].agent;
	struct part *first = NULL;

	for (struct part *one = all->part; one < all->part + all->count; one++) {
		if (part_failed(one) && (!first || one->failed_at < first->failed_at))
			first = one;
	}
	if (!first)
		return 0;
	for (int64_t k = 0; first->number && k < all->decider_count; k++)
		*all->deciders[k] = first->deciders[k];
	agent->decisions.failed = first->agent->decisions.failed;
	agent->paths.failed = first->agent->paths.failed;
	agent->credits.failed = first->agent->credits.failed;
	return 1;
}

/* All parts until then, s; or, draining, until nothing is on its way. Whether a timer of one stays in the past. */
int64_t run_parts(struct parts *all, double until, int64_t draining)
{
	struct thread threads[MOST_PARTS];
	int64_t endless = 0;

	all->until = until;
	all->last = draining ? NEVER : tick_of(all->part[0].agent, until);
	all->draining = draining;
	copy_deciders(all);
	begin_windows(all);
	for (int64_t i = 0; i < all->threads; i++) {
		threads[i].all = all;
		threads[i].number = i;
		if (i && pthread_create(&threads[i].id, NULL, work, &threads[i]))
			abort();
	}
	work(threads);
	for (int64_t i = 1; i < all->threads; i++)
		pthread_join(threads[i].id, NULL);
	for (int64_t i = 0; i < all->count; i++) {
		endless |= all->part[i].endless;
		if (i)
			add_part(all->part, &all->part[i]);
	}
	end_windows(all);
	return endless;
}

/* Each part records decisions by itself: once there are `room` of them, all are taken between two windows. */
void take_records(struct parts *all, int64_t room, void (*full)(void))
{
	for (struct part *one = all->part; one < all->part + all->count; one++)
		one->recorded = one->agent->decisions.trace->state;
	all->room = room;
	all->full = full;
}

/* What each part has to do in each window from now on, for so many windows. */
void watch_loads(struct parts *all, struct load *loads, int64_t room)
{
	all->loads = loads;
	all->loads_room = room;
	all->opened = 0;
}

/* All decisions that are due by `now`. */
void decide_parts(struct parts *all, double now)
{
	copy_deciders(all);
	for (int64_t i = 0; i < all->count; i++)
		decide_due(all->part[i].agent, now);
}

/* Moments of the first agent are those of whoever serves them: `of` each id, in steps of `each`. */
static void hand_on(struct parts *all, size_t heap, int64_t from, const int64_t *of, int64_t n, int64_t each)
{
	struct heap *first = (struct heap *)((char *)all->part[0].agent + heap);

	for (int64_t i = 0; i < n; i++) {
		int64_t at = first->place[from + i], part = of[i / each];
		struct heap *other = (struct heap *)((char *)all->part[part].agent + heap);
		double time;

		if (at < 0 || !part)
			continue;
		time = first->events[at].time;
		heap_remove(first, from + i); /* first: they have one array of places */
		heap_set(other, from + i, time);
	}
}

/* What was one until now is parts: of each line its end, of each flow and host of the agent. */
void divide(struct parts *all, const int64_t *line, const int64_t *flow, const int64_t *host)
{
	struct datapath *d = all->part[0].agent;
	int64_t n = d->unreported_length;

	cut_lines(all, line);
	hand_on(all, offsetof(struct datapath, starts), 0, flow, d->flows, 1);
	hand_on(all, offsetof(struct datapath, alarms), 0, flow, d->flows, 1);
	hand_on(all, offsetof(struct datapath, agenda), 0, flow, d->flows, 1);
	hand_on(all, offsetof(struct datapath, agenda), d->flows, host, d->hosts, 1);
	if (d->gate)
		hand_on(all, offsetof(struct datapath, agenda), d->flows + d->hosts, host, d->hosts * PRIORITIES, PRIORITIES);
	d->unreported_length = 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t f = d->unreported[i];
		struct datapath *to = all->part[flow[f]].agent;

		to->unreported[to->unreported_length++] = f;
	}
}

/* `threads`: at most as many as parts. */
struct parts *make_parts(int64_t count, int64_t threads, struct decider **deciders, int64_t decider_count)
{
	struct parts *all = needed(calloc(1, sizeof(*all)));

	all->part = needed(aligned_alloc(CACHE_LINE, (size_t)count * sizeof(*all->part)));
	memset(all->part, 0, (size_t)count * sizeof(*all->part));
	all->count = count;
	all->threads = threads;
	all->deciders = deciders;
	all->decider_count = decider_count;
	return all;
}

void set_part(struct parts *all, int64_t number, struct world *w, struct datapath *agent, struct decider *deciders)
{
	struct part *own = &all->part[number];

	own->world = w;
	own->agent = agent;
	own->all = all;
	own->number = number;
	own->thread = number * all->threads / all->count;
	own->next = NEVER;
	own->deciders = deciders;
	w->part = own;
}

/* Who works for that part now. */
int64_t thread_of(const struct parts *all, int64_t number)
{
	return all->part[number].thread;
}

void forget_parts(struct parts *all)
{
	for (struct part *one = all->part; one < all->part + all->count; one++) {
		for (int64_t i = 0; i < all->count; i++)
			free(one->out[0][i].of), free(one->out[1][i].of);
	}
	free(all->part);
	free(all);
}
