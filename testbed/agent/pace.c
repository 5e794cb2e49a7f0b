// SPDX-License-Identifier: Apache-2.0
/*
 * Sends what is due. Departures follow an ideal schedule, so a late wake-up delays packets but does not lower the rate;
 * how late each one was is the pacing lag. A flow whose turn passed while its window was closed, or while others held
 * the host's line, gains no credit. Flows of a host take turns. A host that its switch has paused (802.1Qbb) holds its
 * line until it may go on.
 *
 * The events of all flows wait in one heap: cost grows with packets, not with flows.
 */
#include "datapath.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#define MOST_AT_ONCE 60 /* packets in one system call: the kernel takes 64 segments */
#define LARGEST 65000	/* bytes in one system call: a UDP datagram, cut apart or not, has at most 65507 */
#define KEPT 2		/* in `queued`, only inside push() */
#define SLOWEST 1.0	/* bit/s: a rate of next to nothing would never send again */

/* ---- events ------------------------------------------------------------------------------------------------------- */

static void push(struct datapath *d, double time, int64_t id)
{
	int64_t i;

	if (d->heap_length == d->heap_size) {
		/* Only stale events can fill the heap: keep those that still hold. */
		int64_t kept = 0;

		for (i = 0; i < d->heap_length; i++) {
			struct event e = d->heap[i];

			if (e.id >= 0 && (d->next[e.id] != e.time || d->queued[e.id]))
				continue;
			if (e.id >= 0)
				d->queued[e.id] = KEPT; /* once: a time that came back has left several events */
			d->heap[kept++] = e;
		}
		d->heap_length = 0;
		for (i = 0; i < kept; i++) {
			if (d->heap[i].id >= 0)
				d->queued[d->heap[i].id] = 0;
			push(d, d->heap[i].time, d->heap[i].id);
		}
	}
	for (i = d->heap_length++; i > 0 && d->heap[(i - 1) / 2].time > time; i = (i - 1) / 2)
		d->heap[i] = d->heap[(i - 1) / 2];
	d->heap[i] = (struct event){time, id};
}

static struct event pop(struct datapath *d)
{
	struct event top = d->heap[0], moved = d->heap[--d->heap_length];
	int64_t i = 0, child;

	while ((child = 2 * i + 1) < d->heap_length) {
		if (child + 1 < d->heap_length && d->heap[child + 1].time < d->heap[child].time)
			child++;
		if (d->heap[child].time >= moved.time)
			break;
		d->heap[i] = d->heap[child];
		i = child;
	}
	d->heap[i] = moved;
	return top;
}

/* ---- sending ------------------------------------------------------------------------------------------------------ */

/* Packets that the flow may send now. With nothing in flight it is at least one, or the flow would be stuck. */
static int64_t room(const struct datapath *d, int64_t f)
{
	int64_t fits;

	if (!d->started[f])
		return 0;
	if (isinf(d->window[f]))
		return d->to_send[f];
	fits = (int64_t)(d->window[f] / (double)d->wire_size) - d->inflight[f];
	if (fits < 1 && d->inflight[f] == 0)
		fits = 1;
	return fits < d->to_send[f] ? fits : d->to_send[f];
}

/* Rate, window or what is left to send has changed. */
void reschedule(struct datapath *d, const int64_t *flows, int64_t n, double now)
{
	for (int64_t i = 0; i < n; i++) {
		int64_t f = flows[i];
		double due, before = d->next[f];

		if (d->queued[f])
			continue;
		if (room(d, f) <= 0) {
			d->next[f] = INFINITY;
			continue;
		}
		due = d->last[f] + (double)(d->wire_size * 8) / d->rate[f];
		if (due < now) /* an earlier departure than before counts from now; lateness that was there is kept */
			due = fmin(now, fmax(due, before));
		if (due != before) {
			d->next[f] = due;
			push(d, due, f);
		}
	}
}

/*
 * Take over what a controller decided for `flows`, bounded by the line rate. Returns a flow whose rate or window is not
 * a positive number or whose timer is none, or -1. `next_timer` becomes the earliest of all timers. `decided` (or NULL)
 * takes a copy as it was decided: n rates, n windows, n timers.
 */
int64_t adopt(struct datapath *d, const int64_t *flows, int64_t n, double now, const double *rate, const double *window,
	      const double *timer, double *next_timer, double *decided)
{
	double earliest = INFINITY;

	for (int64_t i = 0; i < n; i++) {
		int64_t f = flows[i];
		double line = (double)(d->wire_size * 8) / d->slot[f];

		if (!(rate[f] > 0) || isinf(rate[f]) || !(window[f] > 0) || isnan(timer[f])) /* nan fails, too */
			return f;
		if (decided) {
			decided[i] = rate[f];
			decided[n + i] = window[f];
			decided[2 * n + i] = timer[f];
		}
		d->rate[f] = rate[f] > line ? line : fmax(rate[f], SLOWEST);
		d->window[f] = window[f];
	}
	reschedule(d, flows, n, now);
	for (int64_t f = 0; f < d->flows; f++)
		if (timer[f] < earliest)
			earliest = timer[f];
	*next_timer = earliest;
	return -1;
}

/* Hand `packets` packets to the kernel; returns how many it took. UDP_SEGMENT cuts them apart behind one call. */
static int64_t transmit(struct datapath *d, int64_t f, int64_t packets)
{
	struct iovec part[MOST_AT_ONCE];
	struct msghdr message = {.msg_iov = part, .msg_iovlen = packets};
	int64_t last = d->short_size[f] ? d->short_at[f] - d->sent[f] : -1; /* position of the short packet in this call */

	if (packets == 1 || !d->segment) {
		for (int64_t i = 0; i < packets; i++) {
			const uint8_t *bytes = i == last ? d->short_packet : d->packet;
			int64_t size = i == last ? d->short_size[f] : d->segment_size;

			if (send((int)d->fd[f], bytes + f * d->segment_size, size, MSG_DONTWAIT) < 0)
				return i;
		}
		return packets;
	}
	if (last >= 0 && last < packets) /* segments must be equal but for the last: stop behind the short one */
		message.msg_iovlen = packets = last + 1;
	for (int64_t i = 0; i < packets; i++) {
		part[i].iov_base = d->packet + f * d->segment_size;
		part[i].iov_len = d->segment_size;
		if (i == last) {
			part[i].iov_base = d->short_packet + f * d->segment_size;
			part[i].iov_len = d->short_size[f];
		}
	}
	return sendmsg((int)d->fd[f], &message, MSG_DONTWAIT) < 0 ? 0 : packets;
}

/*
 * Whether the host was paused at any time from when a packet was due until now; then its line is free when the pause is
 * over. That may be changed meanwhile, in good time (see pause.bpf.h): a host that waits looks again every `relook`.
 */
static int paused(struct datapath *d, int64_t host, double due, double now)
{
	const struct pause *pause = d->pauses ? d->pauses + d->pause_at[host] : NULL;

	for (int64_t i = 0; pause && i < 2; i++) {
		double until = nominal(d, __atomic_load_n(&pause->span[i].until, __ATOMIC_RELAXED));

		if (due < until && now >= nominal(d, __atomic_load_n(&pause->span[i].from, __ATOMIC_RELAXED))) {
			d->line_free[host] = fmin(until, now + d->relook);
			return 1;
		}
	}
	return 0;
}

static void send_flow(struct datapath *d, int64_t f, double departure, double now)
{
	int64_t host = d->host[f], packets = d->burst, most = room(d, f), taken;
	int64_t at_once = LARGEST / d->segment_size < MOST_AT_ONCE ? LARGEST / d->segment_size : MOST_AT_ONCE;
	double gap = (double)(d->wire_size * 8) / d->rate[f], slot = d->slot[f];
	double late = now_seconds(d) - departure;

	if (departure < now - d->credit)
		departure = now - d->credit;
	if (now - departure >= gap && d->first_waiting[host] < 0) /* late by more than a packet: catch up at once */
		packets += (int64_t)((now - departure) / fmax(gap, slot));
	if (d->at_once > 0 && at_once > d->at_once)
		at_once = d->at_once; /* more than the shaper's bucket holds, it would cut apart, with a timer per packet */
	if (packets > at_once)
		packets = at_once;
	if (packets > most)
		packets = most;
	count(&d->pacing, late);
	taken = transmit(d, f, packets);
	if (!taken) {
		if (errno != EAGAIN && errno != ENOBUFS)
			d->send_error = errno;
		d->refused += packets;
		d->next[f] = now + slot;
		push(d, d->next[f], f);
		return;
	}
	if (!d->inflight[f])
		d->heard[f] = now; /* silence begins now */
	d->sent[f] += taken;
	d->sent_now[f] += taken;
	d->inflight[f] += taken;
	d->to_send[f] -= taken;
	d->last[f] = departure + (double)(taken - 1) * gap;
	d->line_free[host] = departure + (double)taken * slot;
	d->next[f] = INFINITY;
	if (room(d, f) > 0) {
		d->next[f] = d->last[f] + fmax(gap, slot);
		push(d, d->next[f], f);
	}
}

/* The flow that has waited longest for the host's line sends, and queues up again when its next packet is due. */
static void serve_waiter(struct datapath *d, int64_t host, double due, double now)
{
	int64_t f = d->first_waiting[host];

	if (paused(d, host, due, now)) {
		push(d, d->line_free[host], -1 - host);
		return;
	}
	d->first_waiting[host] = d->after[f];
	d->queued[f] = 0;
	d->next[f] = INFINITY;
	if (room(d, f) > 0)
		send_flow(d, f, fmax(due, d->line_free[host]), now);
	if (d->first_waiting[host] >= 0)
		push(d, d->line_free[host], -1 - host);
}

static void wait_for_line(struct datapath *d, int64_t f)
{
	int64_t host = d->host[f];

	d->queued[f] = 1;
	d->after[f] = -1;
	if (d->first_waiting[host] < 0) {
		d->first_waiting[host] = f;
		push(d, d->line_free[host], -1 - host);
	} else {
		d->after[d->last_waiting[host]] = f;
	}
	d->last_waiting[host] = f;
}

/* Send everything that is due by `now`. */
void send_due(struct datapath *d, double now)
{
	while (d->heap_length && d->heap[0].time <= now) {
		struct event e = pop(d);

		if (e.id < 0)
			serve_waiter(d, -1 - e.id, e.time, now);
		else if (d->next[e.id] == e.time && !d->queued[e.id]) { /* otherwise it was rescheduled since */
			int64_t host = d->host[e.id];

			if (d->first_waiting[host] >= 0 || d->line_free[host] > e.time || paused(d, host, e.time, now))
				wait_for_line(d, e.id);
			else
				send_flow(d, e.id, e.time, now);
		}
	}
}

/* Sleep and send until `until`, or until the ring wakes us. */
void pace(struct datapath *d, double until)
{
	for (;;) {
		double now = now_seconds(d), next;
		int64_t ns;
		struct timespec t;

		if (d->awake_by > 0)
			count(&d->timers, fmax(now - d->awake_by, 0));
		send_due(d, now);
		d->awake_by = now_seconds(d);
		if (now >= until)
			return; /* what Python takes until it is back counts as well */
		next = d->heap_length && d->heap[0].time < until ? d->heap[0].time : until;
		if (next < now + d->quantum) /* a timer per packet costs more than the packet */
			next = now + d->quantum;
		ns = (int64_t)((next - now_seconds(d)) / d->seconds_per_ns);
		if (ns <= 0)
			continue;
		t = (struct timespec){ns / 1000000000, ns % 1000000000};
		d->awake_by = next;
		if (d->wake_by_ring) {
			struct pollfd ring = {.fd = (int)d->ring_fd, .events = POLLIN};

			if (ppoll(&ring, 1, &t, NULL) > 0) {
				d->awake_by = 0;
				return;
			}
		} else {
			clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
		}
	}
}
