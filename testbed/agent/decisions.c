// SPDX-License-Identifier: Apache-2.0
/*
 * A controller per flow is asked here, in the moment its flow starts, a record is read, a timer is due or packets were
 * sent: Python is not needed until a flow falls silent, or the run ends.
 */
#include "decisions.h"
#include "core.h"
#include "datapath.h"
#include "feedback.h"
#include "machine.h"
#include "queue_pairs.h"
#include "schedule.h"
#include "sleep.h"
#include "tasks.h"
#include "tell.h"

#define ENDLESS 1000 /* looks at one instant that are taken for a loop without end */

/* What a queue pair's record now says applies to its messages, at once or when a core has worked through it. */
static void decided(struct datapath *d, int64_t f, double now)
{
	const struct decided *record = record_of(d->decisions.of[f], d->flow[f].opener);

	for (int64_t m = newest_message(d, f); m >= 0; m = message_before(d, m)) {
		if (needs_core(&d->decisions.core, m))
			serve_decision(d, m, record, now);
		else
			apply(d, m, record, now);
	}
}

static void all_sent(struct datapath *d, double now)
{
	for (int64_t i = 0; i < d->unreported_length; i++) {
		int64_t f = d->unreported[i], bytes = d->flow[f].sent_now * d->wire_size;

		d->flow[f].sent_now = 0;
		if (!tell_sent(d, f, bytes, now))
			return;
		decided(d, f, now);
	}
	d->unreported_length = 0;
}

static void timers_due(struct datapath *d, double now)
{
	int64_t n = due_timers(d, now, d->decisions.due); /* first: a timer may be set to a time that has passed */

	for (int64_t i = 0; i < n; i++) {
		int64_t f = d->decisions.due[i];

		if (!tell_timer(d, f, now))
			return;
		decided(d, f, now);
	}
}

/* Flows whose time has come start. */
static void start_due(struct datapath *d, double now)
{
	int64_t n = due_starts(d, now, d->decisions.due);

	for (int64_t i = 0; i < n; i++) {
		int64_t f = d->decisions.due[i];
		struct decider *c = d->decisions.of[f];

		d->flow[f].started = 1;
		if (!goes_on(d, f)) {
			memcpy(record_of(c, f), c->initial + f * c->size, (size_t)c->size);
			if (!tell_start(d, f, now))
				return;
		}
		apply(d, f, record_of(c, d->flow[f].opener), now);
	}
}

/* All decisions that are due by `now`, those with which flows start last. */
void decide_due(struct datapath *d, double now)
{
	struct decisions *c = &d->decisions;

	c->steps++;
	apply_served(d, now);
	if (c->wants_sent && now >= c->next_report) {
		c->next_report = now + c->longest_sleep;
		all_sent(d, now);
	}
	if (!has_failed(c) && next_due(d) <= now) {
		int64_t rows = read_feedback(d, now);

		for (int64_t i = 0; i < rows && !has_failed(c); i++)
			decided(d, d->row_flow[i], now);
	}
	if (!has_failed(c) && heap_first(&d->alarms) <= now)
		timers_due(d, now);
	if (!has_failed(c))
		start_due(d, now);
}

/* When to decide again. Feedback and timers are gathered for a moment: several cost little more than one. */
static double next_decision(struct datapath *d, double now)
{
	const struct decisions *c = &d->decisions;
	double soonest = fmax(fmin(next_due(d), heap_first(&d->alarms)), now) + c->gather;

	if (c->wants_sent) /* then, and not when something else is due */
		soonest = fmin(soonest, c->next_report);
	return fmin(fmin(soonest, now + c->longest_sleep), next_served(&c->core));
}

/* What it will do next, it does not before then. */
double next_moment(struct datapath *d)
{
	return fmin(next_decision(d, now_seconds(d)), fmin(heap_first(&d->agenda), next_start(d)));
}

/* Sleep, send and decide until `until`, or until something has failed. Returns whether a timer stays in the past. */
int64_t serve(struct datapath *d, double until)
{
	double now = now_seconds(d);
	int64_t looks = 0;

	while (now < until && looks < ENDLESS && !has_failed(&d->decisions) && !d->send_error) {
		double before = now;

		send_until(d, fmin(next_decision(d, now), until));
		now = now_seconds(d);
		looks = now > before ? 0 : looks + 1;
		decide_due(d, now);
	}
	return looks == ENDLESS && heap_first(&d->alarms) <= now;
}

/* The same of what is due at this moment, which stays: until nothing is. */
int64_t serve_moment(struct datapath *d)
{
	const double now = now_seconds(d);
	int64_t looks = 0;

	while (next_moment(d) <= now && looks < ENDLESS && !has_failed(&d->decisions)) {
		send_until(d, now);
		decide_due(d, now);
		looks++;
	}
	return looks == ENDLESS && heap_first(&d->alarms) <= now;
}

/* Everything in flight of these flows was declared lost, so many packets of each. */
void time_out(struct datapath *d, const int64_t *flows, const int64_t *lost, int64_t n, double now)
{
	for (int64_t i = 0; i < n; i++) {
		if (!tell_timeout(d, flows[i], lost[i], now))
			return;
		decided(d, flows[i], now);
	}
}
