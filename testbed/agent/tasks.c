// SPDX-License-Identifier: Apache-2.0
/*
 * Flows that start when others are done. Whoever sees the last of those releases the waiting ones, for whichever agent
 * serves them; when they start follows from when things were done, and not from when somebody looked.
 */
#include "tasks.h"
#include "datapath.h"
#include "recovery.h"

#include <unistd.h>

/* The later of two times; others may do the same. */
static void raise_to(double *at, double time)
{
	double known;

	__atomic_load(at, &known, __ATOMIC_RELAXED);
	while (known < time && !__atomic_compare_exchange(at, &known, &time, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void release(struct tasks *t, int64_t flow)
{
	int64_t agent = t->agent[flow], one = 1;
	int64_t place = t->first_flow[agent] + __atomic_fetch_add(&t->count[agent], 1, __ATOMIC_RELAXED);

	__atomic_store_n(&t->released[place], flow, __ATOMIC_RELEASE);
	if (t->wake[agent] >= 0 && write((int)t->wake[agent], &one, sizeof(one)) < 0)
		return; /* it is awake: its counter is full */
}

/* A node is done, and so may be steps that waited for it. Steps need nobody to end them: they are followed at once. */
static void node_done(struct tasks *t, int64_t node, double time)
{
	int64_t top = -1;

	for (;;) {
		for (int64_t i = t->first[node]; i < t->first[node + 1]; i++) {
			int64_t other = t->next[i];

			raise_to(&t->ready[other], time);
			if (__atomic_sub_fetch(&t->missing[other], 1, __ATOMIC_ACQ_REL))
				continue;
			if (other < t->flows) {
				release(t, other);
			} else {
				t->link[other] = top;
				top = other;
			}
		}
		if (top < 0)
			return;
		node = top;
		top = t->link[node];
		time = t->ready[node] + t->length[node];
	}
}

/* The receiver has all of a flow since then. Later calls do nothing. */
void flow_done(struct tasks *t, int64_t flow, double time)
{
	if (!__atomic_exchange_n(&t->done[flow], 1, __ATOMIC_RELAXED))
		node_done(t, flow, time);
}

/* Nominal time is about to begin: steps that wait for nothing are done when their own time is over. */
void begin_tasks(struct tasks *t, const int64_t *steps, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		node_done(t, steps[i], t->ready[steps[i]] + t->length[steps[i]]);
}

/* All flows whose start is known. */
void add_starts(struct datapath *d)
{
	for (int64_t f = 0; f < d->flows; f++)
		heap_set(&d->starts, f, d->start[f]);
}

/* Flows that wait for nothing any more. */
static APART void see_released(struct datapath *d)
{
	const struct tasks *t = d->tasks;

	while (d->released < d->flows) {
		int64_t flow = __atomic_load_n(&t->released[d->first + d->released], __ATOMIC_ACQUIRE);

		if (flow < 0)
			break;
		d->released++;
		d->start[flow - d->first] = t->ready[flow] + t->length[flow];
		heap_set(&d->starts, flow - d->first, d->start[flow - d->first]);
	}
}

/* When the next flow starts; inf for none. */
double next_start(struct datapath *d)
{
	if (d->tasks)
		see_released(d);
	return heap_first(&d->starts);
}

/* Flows that start by `now`, earliest first; returns their number. */
int64_t due_starts(struct datapath *d, double now, int64_t *flows)
{
	int64_t n = 0;

	while (next_start(d) <= now)
		flows[n++] = heap_pop(&d->starts);
	return n;
}
