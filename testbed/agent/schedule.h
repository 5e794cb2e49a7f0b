/* SPDX-License-Identifier: Apache-2.0
 *
 * When a flow may send next, and when its controller wants to be called: schedule.c. It owns `alarms`, and of `agenda` what flows
 * have there.
 */
#ifndef TESTBED_SCHEDULE_H
#define TESTBED_SCHEDULE_H

#include "datapath.h"

int64_t room(struct datapath *d, int64_t f);
void reschedule(struct datapath *d, const int64_t *flows, int64_t n, double now);
void set_timer(struct datapath *d, int64_t f, double timer);
void apply(struct datapath *d, int64_t f, const struct decided *decided, double now);
int64_t apply_decisions(struct datapath *d, const int64_t *flows, int64_t n, double now, const double *rate,
			const double *window, const double *timer, double *next_timer, double *decided);
int64_t due_timers(struct datapath *d, double now, int64_t *flows);
int64_t report_sent(struct datapath *d, int64_t *flows, int64_t *packets);

/* The flow's next packet is due then. */
static inline void due_at(struct datapath *d, int64_t f, double time)
{
	d->flow[f].next = time;
	heap_set(&d->agenda, f, time);
}

#endif
