// SPDX-License-Identifier: Apache-2.0
/*
 * Decides what is due when. Departures follow an ideal schedule, so a late wake-up delays packets but does not lower
 * the rate; how late each one was is the pacing lag. A flow whose departure passed while its window was closed,
 * or while others used the host's line, gains no credit. Flows of a host are served round robin; those that are late
 * together leave in one system call. A host that its switch has paused (802.1Qbb) sends nothing until it resumes.
 *
 * Future departures wait in heaps: cost grows with packets, not with flows.
 */
#include "pace.h"
#include "batch.h"
#include "datapath.h"
#include "gates.h"
#include "grants.h"
#include "recovery.h"
#include "schedule.h"

/*
 * Whether the host was paused at any time from when a packet was due until now; then its line is free when the pause is
 * over. That may be changed meanwhile, in good time (see pause.bpf.h): a waiting host checks again every `relook`.
 */
static int paused(struct datapath *d, int64_t host, double due, double now)
{
	const struct pause *pause = d->pauses && !d->gate ? d->pauses + d->pause_at[host] : NULL;

	for (int64_t i = 0; pause && i < 2; i++) {
		double until = nominal(d, __atomic_load_n(&pause->span[i].until, __ATOMIC_RELAXED));

		if (due < until && now >= nominal(d, __atomic_load_n(&pause->span[i].from, __ATOMIC_RELAXED))) {
			d->line_free[host] = fmin(until, now + d->relook);
			return 1;
		}
	}
	return 0;
}

/* The backlog of the host's shaper beyond its bucket: it woke up late, and has lost that time. */
static int64_t shaper_lag(const struct datapath *d, int64_t host)
{
	uint64_t arrived = __atomic_load_n(&d->arrivals[d->uplink[host]].bytes, __ATOMIC_RELAXED);

	return d->handed[host] + d->answered[host] - ((int64_t)arrived - d->arrived_before[host]) - d->bucket;
}

/* A host that sends less than its line rate empties its shaper by itself. */
static int fills_line(const struct datapath *d, int64_t f)
{
	return d->first_waiting[d->flow[f].host] >= 0 || (double)(d->wire_size * 8) / d->flow[f].rate <= 1.001 * d->flow[f].slot;
}

/*
 * ACKs and CNPs that the host's NIC has sent since the last call used the same line. And they must not wait behind data
 * that a NIC would not have on its wire yet: the shaper's backlog leaves before anything new does.
 */
static void yield_line(struct datapath *d, int64_t f, double due, double now)
{
	int64_t host = d->flow[f].host;
	int64_t answered = (int64_t)__atomic_load_n(&d->arrivals[d->interface[host]].answered, __ATOMIC_RELAXED), left;

	d->line_free[host] += (double)(answered - d->answered[host]) * d->flow[f].slot / (double)d->wire_size;
	d->answered[host] = answered;
	left = d->uplink && fills_line(d, f) ? shaper_lag(d, host) : 0;
	if (left > 0) {
		double begin = fmax(d->line_free[host], due), free = now + (double)left * d->flow[f].slot / (double)d->wire_size;

		d->given_up[host] += fmax(0, free - begin);
		d->line_free[host] = fmax(d->line_free[host], free);
	}
}

static void send_flow(struct datapath *d, int64_t f, double departure, double now)
{
	struct flow *flow = &d->flow[f];
	int64_t host = flow->host, packets = d->burst, most = room(d, f), number = flow->sent, full;
	double gap = (double)(d->wire_size * 8) / flow->rate, slot = flow->slot, due = departure;
	int ends_short = 0;

	departure = fmax(departure, now - d->credit);
	if (now - departure >= gap && d->first_waiting[host] < 0) /* late by more than a packet: catch up at once */
		packets += (int64_t)((now - departure) / fmax(gap, slot));
	if (packets > d->at_once)
		packets = d->at_once;
	if (packets > most)
		packets = most;
	if (numbered(d))
		number = next_number(d, f, &packets);
	full = flow->short_at - number;
	if (flow->short_size && full >= 0 && packets > full) {
		packets = full + 1;
		ends_short = 1;
	}
	add_to_batch(d, f, packets, number, due, now);
	if (!flow->inflight)
		flow->last_feedback = now; /* the timeout counts from here */
	if (numbered(d))
		note_departure(d, f, number, packets, now);
	else
		flow->sent += packets;
	flow->inflight += packets;
	flow->to_send -= packets;
	flow->last = departure + (double)(packets - 1) * gap;
	d->line_free[host] = departure + (double)packets * slot;
	due_at(d, f, room(d, f) > 0 ? flow->last + fmax(gap, slot) : INFINITY);
	if (ends_short)
		hand_over(d, host, now);
}

/* The flow that has waited longest for the host's line sends, and queues up again when its next packet is due. */
static void serve_next(struct datapath *d, int64_t host, double due, double now)
{
	int64_t f = d->first_waiting[host];

	yield_line(d, f, due, now);
	if (d->line_free[host] > now) {
		heap_set(&d->agenda, d->flows + host, d->line_free[host]);
		return;
	}
	if (paused(d, host, due, now)) {
		heap_set(&d->agenda, d->flows + host, d->line_free[host]);
		return;
	}
	d->first_waiting[host] = d->flow[f].after;
	d->flow[f].queued = 0;
	d->flow[f].next = INFINITY;
	if (room(d, f) > 0 && !waits_at_gate(d, f, now))
		send_flow(d, f, fmax(due, d->line_free[host]), now);
	if (d->first_waiting[host] >= 0)
		heap_set(&d->agenda, d->flows + host, d->line_free[host]);
}

static void wait_for_line(struct datapath *d, int64_t f)
{
	int64_t host = d->flow[f].host;

	d->flow[f].queued = 1;
	d->flow[f].after = -1;
	if (d->first_waiting[host] < 0) {
		d->first_waiting[host] = f;
		heap_set(&d->agenda, d->flows + host, d->line_free[host]);
	} else {
		d->flow[d->last_waiting[host]].after = f;
	}
	d->last_waiting[host] = f;
}

/* Who waited at a gate that opens queues up for the line; a paused flow gains no credit. */
static void open_gate(struct datapath *d, int64_t gate, double now)
{
	int64_t f, after;

	if (!gate_opens(d, gate, now, &f))
		return;
	for (; f >= 0; f = after) {
		after = d->flow[f].after;
		d->line_free[d->flow[f].host] = fmax(d->line_free[d->flow[f].host], now);
		wait_for_line(d, f);
	}
}

/* What is due of hosts, gates and credits. */
static void others_due(struct datapath *d, int64_t id, double due, double now)
{
	if (has_credits(d) && id >= d->credits.first_id)
		credits_due(d, id, due, now);
	else if (id >= d->flows + d->hosts)
		open_gate(d, id - d->flows - d->hosts, now);
	else
		serve_next(d, id - d->flows, due, now);
}

/* Whether a flow that is due can leave at once; if not it waits elsewhere. */
static int can_leave(struct datapath *d, int64_t f, double due, double now)
{
	int64_t host = d->flow[f].host;

	if (waits_at_gate(d, f, now))
		return 0;
	yield_line(d, f, due, now);
	if (d->first_waiting[host] < 0 && d->line_free[host] <= due && !paused(d, host, due, now))
		return 1;
	wait_for_line(d, f);
	return 0;
}

/* Send everything that is due by `now`. A flow that leaves stays in the heap: its next moment takes the place of this one. */
void send_due(struct datapath *d, double now)
{
	if (MANY_PATHS)
		d->paths.now = now;
	while (heap_first(&d->agenda) <= now) {
		const struct event first = d->agenda.events[0];

		if (first.id < d->flows && can_leave(d, first.id, first.time, now)) {
			send_flow(d, first.id, first.time, now);
			continue;
		}
		heap_remove(&d->agenda, first.id);
		if (first.id >= d->flows)
			others_due(d, first.id, first.time, now);
	}
	while (d->filled_length) {
		int64_t host = d->filled[--d->filled_length];

		d->batches[host].listed = 0;
		hand_over(d, host, now);
	}
}

/* Take a flow out of a list of those that wait; whether it was there. */
static int taken_out(struct datapath *d, int64_t *first, int64_t *last, int64_t f)
{
	int64_t before = -1, at = *first;

	for (; at >= 0 && at != f; at = d->flow[at].after)
		before = at;
	if (at < 0)
		return 0;
	if (before < 0)
		*first = d->flow[f].after;
	else
		d->flow[before].after = d->flow[f].after;
	if (*last == f)
		*last = before;
	return 1;
}

/* From now on a flow leaves by another NIC of its host, which is a host to us. */
void move_flow(struct datapath *d, int64_t f, int64_t host, int64_t fd)
{
	int64_t old = d->flow[f].host, gate = d->gate ? d->gate[f] : -1, waits = d->flow[f].queued;

	if (waits && taken_out(d, &d->first_waiting[old], &d->last_waiting[old], f)) {
		if (d->first_waiting[old] < 0)
			heap_set(&d->agenda, d->flows + old, INFINITY);
	} else if (waits && gate >= 0) {
		taken_out(d, &d->first_held[gate], &d->last_held[gate], f);
	}
	d->flow[f].host = host;
	d->flow[f].fd = fd;
	if (gate >= 0)
		d->gate[f] = host * PRIORITIES + gate % PRIORITIES;
	if (waits)
		wait_for_line(d, f);
}

/* What pauses a host has changed. Without this, whoever waits there looks again in `relook`. */
void look_again(struct datapath *d, int64_t host, double now)
{
	for (int64_t gate = host * PRIORITIES; d->gate && gate < (host + 1) * PRIORITIES; gate++) {
		if (d->first_held[gate] >= 0)
			heap_set(&d->agenda, d->flows + d->hosts + gate, now);
	}
	if (d->first_waiting[host] < 0)
		return;
	d->line_free[host] = fmin(d->line_free[host], now);
	heap_set(&d->agenda, d->flows + host, now);
}
