/* SPDX-License-Identifier: Apache-2.0
 *
 * When a flow may send next, and when its controller wants to be called: schedule.c. It owns `alarms`, and of `agenda` what flows
 * have there.
 */
#ifndef TESTBED_SCHEDULE_H
#define TESTBED_SCHEDULE_H

#include "datapath.h" /* first: it says which interfaces of the system there are */
#include "credits.h"
#include "queue_pairs.h"
#include "recovery.h"

void reschedule(struct datapath *d, const int64_t *flows, int64_t n, double now);
void set_timer(struct datapath *d, int64_t f, double timer);
void apply(struct datapath *d, int64_t f, const struct decided *decided, double now);
int64_t apply_decisions(struct datapath *d, const int64_t *flows, int64_t n, double now, const double *rate,
			const double *window, const double *timer, double *next_timer, double *decided);
int64_t due_timers(struct datapath *d, double now, int64_t *flows);
int64_t report_sent(struct datapath *d, int64_t *flows, int64_t *packets);

/* Of the packets that are left, how many the flow may send now. With nothing in flight it is at least one, or it would be stuck. */
static inline int64_t fitting(struct datapath *d, int64_t f, int64_t left)
{
	int64_t fits, inflight;

	if (!d->flow[f].started)
		return 0;
	if (isinf(d->flow[f].window))
		return left;
	inflight = in_flight(d, f);
	fits = (int64_t)(d->flow[f].window / (double)d->wire_size) - inflight;
	if (fits < 1 && inflight == 0)
		fits = 1;
	return fits < left ? fits : left;
}

/* Packets that the flow may send now. */
static inline int64_t room(struct datapath *d, int64_t f)
{
	int64_t packets = fitting(d, f, numbered(d) ? sendable(d, f) : d->flow[f].to_send);

	return has_credits(d) ? affordable(d, f, packets) : packets;
}

/* The flow's next packet is due then. */
static inline void due_at(struct datapath *d, int64_t f, double time)
{
	d->flow[f].next = time;
	heap_set(&d->agenda, f, time);
}

#endif
