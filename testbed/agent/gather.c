// SPDX-License-Identifier: Apache-2.0
/*
 * For whoever decides for many flows at once, and not before what they did was answered: until then feedback is taken in
 * here, and becomes one row per flow.
 */
#include "gather.h"
#include "datapath.h"
#include "feedback.h"
#include "machine.h"
#include "schedule.h"
#include "sleep.h"

/* Mirrored in structs.py. */
struct answers {
	int64_t *decided_at; /* per flow: `sent` when it decided */
	uint8_t *answered; /* per flow: whether all that it had sent until then came back, or was lost */
	int64_t count;
	double began, half_at; /* when it was waited for answers, and when half of those had come */
};

/* What was read from a ring since `position` lets flows send, and answers some. Returns whether one has finished. */
static int take_note(struct datapath *d, struct answers *a, const struct ring *ring, uint64_t position, double now)
{
	int finished = 0;

	for (; position < *ring->consumer; position += HEADER + sizeof(struct record)) {
		int64_t f = (int64_t)record_at(ring, position)->flow - d->first;

		reschedule(d, &f, 1, now);
		finished |= !isnan(d->flow[f].finished);
		if (!a->answered[f] && d->flow[f].expected >= a->decided_at[f]) {
			a->answered[f] = 1;
			a->count++;
		}
	}
	return finished;
}

/* Whether all of `enough` flows are answered, or half of them were, half of the time ago. */
static int is_enough(struct answers *a, int64_t enough, double now)
{
	if (2 * a->count >= enough)
		a->half_at = fmin(a->half_at, now);
	return a->count >= enough || now >= 2 * a->half_at - a->began;
}

/*
 * Send, and take in feedback until there is some and it is enough for what is waited for since `began`, or a flow has
 * finished. Not beyond `until` and the next alarm. Returns the number of rows.
 */
int64_t gather(struct datapath *d, struct answers *a, double until, int64_t enough, double began)
{
	double now = now_seconds(d);
	int64_t rows = 0;
	int finished = 0;

	if (a->began != began)
		a->half_at = INFINITY;
	a->began = began;
	until = fmin(until, heap_first(&d->alarms));
	while (now < until && !d->send_error && !((is_enough(a, enough, now) || finished) && rows)) {
		send_until(d, until);
		now = now_seconds(d);
		for (int64_t i = 0; i < d->ring_count; i++) {
			uint64_t position = *d->rings[i].consumer;

			rows = read_ring(d, &d->rings[i], rows, now);
			finished |= take_note(d, a, &d->rings[i], position, now);
		}
	}
	end_rows(d, rows);
	return rows;
}
