/* SPDX-License-Identifier: Apache-2.0
 *
 * What ends a pause that does not end by itself, as SONiC's PFC watchdog does: a queue that has been held for as long as
 * that, with packets in it, loses them and all that come, or sends in spite of pauses; until no pause has come for a while.
 */
#ifndef TESTBED_WATCHDOG_H
#define TESTBED_WATCHDOG_H

#include "scheduler.h"

#define MOST_STORMS 1024

/* Of a port's queue. Mirrored in structs.py. */
struct watched {
	int64_t since; /* held, with packets; 0 if it is not */
	int64_t storm; /* since when the watchdog has been acting; 0 for not */
	int64_t frames; /* pauses received when it was looked last */
	uint64_t limit; /* of the queue's share, while packets are dropped */
};

/* Mirrored in structs.py. */
struct watchdog {
	int64_t detection, restoration; /* ticks; 0: there is none */
	int64_t forwards; /* instead of dropping */
	struct watched *queues; /* by line and queue */
	int64_t *time, *row, *what; /* of what it did: began to act, or ended */
	int64_t length;
};

static struct watchdog *dog_of(const struct world *w)
{
	return w->watchdog;
}

static struct watched *watched_of(const struct world *w, const struct line *l, uint32_t queue)
{
	return &dog_of(w)->queues[(l - w->lines) * QUEUES + queue];
}

static void note_storm(struct world *w, const struct line *l, uint32_t queue, int64_t begins)
{
	struct watchdog *dog = dog_of(w);

	if (dog->length == MOST_STORMS)
		return;
	dog->time[dog->length] = w->now;
	dog->row[dog->length] = row_of(w->class_table, (uint32_t)l->from, queue);
	dog->what[dog->length++] = begins;
}

/* Pauses that have come for a queue. */
static int64_t frames_of(const struct world *w, const struct line *l, uint32_t queue)
{
	const struct class_table *classes = w->class_table;
	int64_t frames = 0;

	for (uint32_t rest = classes->lossless; rest; rest &= rest - 1) {
		uint32_t priority = (uint32_t)__builtin_ctz(rest);

		if (classes->paused_by[priority] >> queue & 1)
			frames += (int64_t)((const struct pause *)w->pauses)[row_of(classes, (uint32_t)l->from, priority)].frames;
	}
	return frames;
}

/* Queues that send in spite of pauses. */
static int64_t defiant_queues(const struct world *w, const struct line *l)
{
	int64_t found = 0;

	for (uint32_t queue = 0; dog_of(w)->forwards && queue < QUEUES; queue++)
		found |= (int64_t)(watched_of(w, l, queue)->storm > 0) << queue;
	return found;
}

/* Which queues are held now, with packets in them. */
static void watch(struct world *w, struct line *l, int64_t held)
{
	int64_t id = 2 * w->line_count + (l - w->lines);

	for (uint32_t queue = 0; queue < QUEUES; queue++) {
		struct watched *own = watched_of(w, l, queue);

		if (!(held >> queue & 1))
			own->since = 0;
		else if (!own->since && !own->storm) {
			own->since = w->now;
			if (w->place[id] < 0)
				set_event(w, id, w->now + dog_of(w)->detection);
		}
	}
}

/* What waits in the queue is dropped: it has never left, and was never there. */
static void drop_queue(struct world *w, struct line *l, uint32_t queue)
{
	struct queues *q = &w->queues[l - w->lines];
	uint32_t rows[2] = {row_of(w->class_table, (uint32_t)l->from, queue), (uint32_t)l->from};
	uint32_t far[2] = {row_of(w->class_table, (uint32_t)l->to, queue), (uint32_t)l->to};

	while (q->waiting[queue].first) {
		struct packet *p = take(&q->waiting[queue]);

		give_back_memory(w, l, p);
		for (int i = 0; i < 2; i++) {
			struct port_counters *count = (struct port_counters *)w->port_counters + rows[i];

			count->bytes -= p->length;
			count->dropped_packets++;
			count->dropped_bytes += p->length;
			((struct departures *)w->departures)[far[i]].byte_ns += p->length * (uint64_t)w->now;
		}
		drop(p);
	}
	q->waits &= ~(1ll << queue);
	q->deficit[queue] = 0;
}

static void begin_storm(struct world *w, struct line *l, uint32_t queue)
{
	struct watched *own = watched_of(w, l, queue);
	struct share *share = (struct share *)w->shares + row_of(w->class_table, (uint32_t)l->from, queue);

	own->storm = w->now;
	own->since = 0;
	own->frames = frames_of(w, l, queue);
	own->limit = share->limit;
	note_storm(w, l, queue, 1);
	if (dog_of(w)->forwards)
		return;
	share->limit = CLOSED;
	drop_queue(w, l, queue);
}

static void end_storm(struct world *w, struct line *l, uint32_t queue)
{
	struct watched *own = watched_of(w, l, queue);
	struct share *share = (struct share *)w->shares + row_of(w->class_table, (uint32_t)l->from, queue);

	own->storm = 0;
	share->limit = own->limit;
	note_storm(w, l, queue, 0);
}

/* The port's queues are due to be looked at. `held` now, whoever defies pauses. */
static void look_at_queues(struct world *w, struct line *l, int64_t held)
{
	const struct watchdog *dog = dog_of(w);
	int64_t next = INT64_MAX;

	for (uint32_t queue = 0; queue < QUEUES; queue++) {
		struct watched *own = watched_of(w, l, queue);
		int64_t due = own->since + dog->detection;

		if (own->since && due <= w->now)
			begin_storm(w, l, queue);
		else if (own->since && due < next)
			next = due;
		if (!own->storm)
			continue;
		if (own->storm < w->now && own->frames == frames_of(w, l, queue) && !(held >> queue & 1))
			end_storm(w, l, queue);
		else if (w->now + dog->restoration < next)
			next = w->now + dog->restoration;
		own->frames = frames_of(w, l, queue);
	}
	if (next < INT64_MAX)
		set_event(w, 2 * w->line_count + (l - w->lines), next);
}

#endif
