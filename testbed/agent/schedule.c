// SPDX-License-Identifier: Apache-2.0
#include "schedule.h"

#include <float.h>

#define SLOWEST 1.0 /* bit/s: a rate of next to nothing would never send again */
#define ROUNDING (1 + 1e-9) /* as ABOVE_LINE in controller.py */

/* Rate, window or what is left to send has changed. */
void reschedule(struct datapath *d, const int64_t *flows, int64_t n, double now)
{
	for (int64_t i = 0; i < n; i++) {
		int64_t f = flows[i];
		double due, before = d->flow[f].next;

		if (d->flow[f].queued)
			continue;
		if (room(d, f) <= 0) {
			if (d->flow[f].started && isinf(d->flow[f].last))
				d->flow[f].last = -DBL_MAX; /* it is a window that delays its first packet, and nobody was late */
			due_at(d, f, INFINITY);
			continue;
		}
		due = d->flow[f].last + (double)(d->wire_size * 8) / d->flow[f].rate;
		if (isinf(due) && d->tasks) /* what a job loses at the start of a flow would add up; it may also be just now */
			due = now - d->start[f] < d->seconds_per_ns ? now : d->start[f];
		else if (due < now) /* an earlier departure than before counts from now; lateness that was there is kept */
			due = fmin(now, fmax(due, before));
		if (due != before)
			due_at(d, f, due);
	}
}

/* When the controller wants to be called; a message that has finished leaves nothing to decide, unless others may follow. */
void set_timer(struct datapath *d, int64_t f, double timer)
{
	heap_set(&d->alarms, d->flow[f].opener, d->pair || isnan(d->flow[f].finished) ? timer : INFINITY);
}

/* What was decided for a flow, bounded by the line rate; decisions beyond it are counted. */
static void set(struct datapath *d, int64_t f, double rate, double window, double timer)
{
	double line = (double)(d->wire_size * 8) / d->flow[f].slot;

	d->above_line += rate > line * ROUNDING;
	d->flow[f].rate = rate > line ? line : fmax(rate, SLOWEST);
	d->flow[f].window = window;
	set_timer(d, f, timer);
}

/* Apply what a controller per flow decided, which is known to be possible. */
void apply(struct datapath *d, int64_t f, const struct decided *decided, double now)
{
	set(d, f, decided->rate, decided->window, decided->timer);
	reschedule(d, &f, 1, now);
}

/*
 * Apply what a controller decided for `flows`, bounded by the line rate. Returns a flow whose rate or window is not
 * a positive number or whose timer is none, or -1. `next_timer` becomes the earliest timer of all flows. `decided` (or
 * NULL) takes a copy as it was decided: n rates, n windows, n timers.
 */
int64_t apply_decisions(struct datapath *d, const int64_t *flows, int64_t n, double now, const double *rate, const double *window,
	      const double *timer, double *next_timer, double *decided)
{
	for (int64_t i = 0; i < n; i++) {
		int64_t f = flows[i];

		if (!possible(rate[f], window[f], timer[f]))
			return f;
		if (decided) {
			decided[i] = rate[f];
			decided[n + i] = window[f];
			decided[2 * n + i] = timer[f];
		}
		set(d, f, rate[f], window[f], timer[f]);
	}
	reschedule(d, flows, n, now);
	*next_timer = heap_first(&d->alarms);
	return -1;
}

/* Flows whose timers are due by `now`, earliest first; returns their number. They are set again by apply_decisions(). */
int64_t due_timers(struct datapath *d, double now, int64_t *flows)
{
	int64_t n = 0;

	while (heap_first(&d->alarms) <= now)
		flows[n++] = heap_pop(&d->alarms);
	return n;
}

/* Flows that have sent something since the last call, and how many packets; returns their number. */
int64_t report_sent(struct datapath *d, int64_t *flows, int64_t *packets)
{
	int64_t n = d->unreported_length;

	for (int64_t i = 0; i < n; i++) {
		flows[i] = d->unreported[i];
		packets[i] = d->flow[flows[i]].sent_now;
		d->flow[flows[i]].sent_now = 0;
	}
	d->unreported_length = 0;
	return n;
}
