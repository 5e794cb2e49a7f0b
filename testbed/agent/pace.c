// SPDX-License-Identifier: Apache-2.0
/*
 * Decides what is due when. Departures follow an ideal schedule, so a late wake-up delays packets but does not lower
 * the rate; how late each one was is the pacing lag. A flow whose departure passed while its window was closed,
 * or while others used the host's line, gains no credit. Flows of a host are served round robin; those that are late
 * together leave in one system call. A host that its switch has paused (802.1Qbb) sends nothing until it resumes.
 *
 * Future departures wait in heaps: cost grows with packets, not with flows.
 */
#include "batch.h"
#include "gates.h"
#include "queue_pairs.h"

#include <float.h>

#define SLOWEST 1.0 /* bit/s: a rate of next to nothing would never send again */
#define ROUNDING (1 + 1e-9) /* as ABOVE_LINE in controller.py */

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

static APART int64_t room_of_pair(struct datapath *d, int64_t f)
{
	return fitting(d, f, sendable(d, f));
}

/* Packets that the flow may send now. */
static int64_t room(struct datapath *d, int64_t f)
{
	int64_t packets = numbered(d) ? room_of_pair(d, f) : fitting(d, f, d->flow[f].to_send);

	return has_credits(d) ? affordable(d, f, packets) : packets;
}

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

/* Send everything that is due by `now`. */
void send_due(struct datapath *d, double now)
{
	if (MANY_PATHS)
		d->paths.now = now;
	while (heap_first(&d->agenda) <= now) {
		double due = heap_first(&d->agenda);
		int64_t id = heap_pop(&d->agenda);

		if (has_credits(d) && id >= d->credits.first_id) {
			credits_due(d, id, due, now);
			continue;
		}
		if (id >= d->flows + d->hosts) {
			open_gate(d, id - d->flows - d->hosts, now);
			continue;
		}
		if (id >= d->flows) {
			serve_next(d, id - d->flows, due, now);
			continue;
		}
		if (waits_at_gate(d, id, now))
			continue;
		yield_line(d, id, due, now);
		if (d->first_waiting[d->flow[id].host] >= 0 || d->line_free[d->flow[id].host] > due ||
			 paused(d, d->flow[id].host, due, now))
			wait_for_line(d, id);
		else
			send_flow(d, id, due, now);
	}
	while (d->filled_length) {
		int64_t host = d->filled[--d->filled_length];

		d->batches[host].listed = 0;
		hand_over(d, host, now);
	}
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
