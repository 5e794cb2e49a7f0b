// SPDX-License-Identifier: Apache-2.0
/*
 * What an agent does per packet; Python decides per batch (datapath.py).
 *
 * digest    ring buffer to one row of feedback per flow. Where the kernel has no netem, a record is handed on `held`
 *           seconds after it arrived (the delay line) and that time is part of the RTT; until then it stays in the ring.
 *           Packets of a flow do not overtake each other in the network, so a gap in the acknowledged packet numbers is
 *           a loss. The cores of this machine may swap two of them, though: what fills a gap and is already in the ring
 *           is taken first. A packet that is acknowledged after it was given up counts as late, and is not lost.
 * pace      sends what is due. Departures follow an ideal schedule, so a late wake-up delays packets but does not lower
 *           the rate; how late each one was is the pacing lag. A flow whose turn passed while its window was closed, or
 *           while others held the host's line, gains no credit. Flows of a host take turns.
 *
 * Time is nominal seconds (double); `seconds_per_ns` and `epoch_ns` come from testbed.clock. The events of all flows
 * wait in one heap: cost grows with packets, not with flows.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "../dataplane/wire.h"

#define MOST_AT_ONCE 60 /* packets in one system call: the kernel takes 64 segments */
#define HEADER 8	/* of a ring buffer record: length, with two flags on top */
#define BUSY 0xc0000000u
#define LARGEST 65000	/* bytes in one system call: a UDP datagram, cut apart or not, has at most 65507 */
#define KEPT 2		/* in `queued`, only inside push() */
#define SWAPS 64
#define HALF 0x800000 /* packet numbers have 24 bits: the nearer half is ahead, the other behind */
#define SMALLEST 1e-12
#define SLOWEST 1.0 /* bit/s: a rate of next to nothing would never send again */

struct event {
	double time;
	int64_t id; /* a flow, or -1 - host when a host's line becomes free for a waiter */
};

struct histogram {
	int64_t *counts;
	double *top, *bottom; /* the largest and the smallest so far */
	int64_t bins, per_octave;
};

/* Mirrored field by field in datapath.py. */
struct datapath {
	/* settings */
	int64_t flows, hosts, epoch_ns;
	double seconds_per_ns, held, credit, quantum, awake_by; /* when the loop meant to go on */
	int64_t wire_size, burst, segment, wake_by_ring, first, heap_size, ring_mask, hops; /* switches on the way */
	/* shared columns, per flow */
	double *rate, *window, *rtt, *finished;
	int64_t *sent, *acked, *acked_payload, *acked_wire, *lost, *late, *cnps, *ce, *inflight, *to_send;
	/* own columns, per flow */
	double *slot, *last, *next, *heard;
	int64_t *expected, *host, *queued, *started, *fd, *after, *row, *sent_now, *short_at;
	uint8_t *packet, *short_packet; /* templates: `segment_size` bytes each; short_size is 0 where there is none */
	int64_t *short_size;
	int64_t segment_size;
	/* per host: when the line is free, and the queue of flows that wait for it */
	double *line_free;
	int64_t *first_waiting, *last_waiting;
	/* room for two events per flow and one per host: stale ones are replaced, see push() */
	struct event *heap;
	int64_t heap_length;
	/* ring buffer */
	uint64_t *consumer, *producer;
	uint8_t *data;
	int64_t ring_fd;
	/* feedback of one batch, per row */
	int64_t *row_flow, *row_acked, *row_bytes, *row_ce, *row_cnps, *row_lost, *row_hops, *row_last, *row_next,
		*row_inflight;
	double *row_rtt;
	int64_t *hop_node;
	double *hop_ts, *hop_tx, *hop_queue, *hop_rate;
	/* per flow and hop: the newest INT record, to see that node, time and bytes are in order */
	int64_t *seen_node;
	double *seen_ts, *seen_tx;
	/* what it measures about itself */
	struct histogram rtts, pacing, feedback, timers;
	int64_t refused, high_water, send_error, swapped, int_faults;
	uint64_t taken[SWAPS]; /* ring positions of records that were taken before their turn */
	int64_t taken_length;
};

static double now_seconds(const struct datapath *d)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)(t.tv_sec * 1000000000ll + t.tv_nsec - d->epoch_ns) * d->seconds_per_ns;
}

static double nominal(const struct datapath *d, uint64_t stamp)
{
	return (double)((int64_t)stamp - d->epoch_ns) * d->seconds_per_ns;
}

static void count(struct histogram *h, double time)
{
	int64_t bin = time > SMALLEST ? (int64_t)(log2(time / SMALLEST) * (double)h->per_octave) : 0;

	h->counts[bin < h->bins ? bin : h->bins - 1]++;
	if (time > *h->top)
		*h->top = time;
	if (time < *h->bottom)
		*h->bottom = time;
}

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
 * a positive number or whose timer is none, or -1. `next_timer` becomes the earliest of all timers.
 */
int64_t adopt(struct datapath *d, const int64_t *flows, int64_t n, double now, const double *rate, const double *window,
	      const double *timer, double *next_timer)
{
	double earliest = INFINITY;

	for (int64_t i = 0; i < n; i++) {
		int64_t f = flows[i];
		double line = (double)(d->wire_size * 8) / d->slot[f];

		if (!(rate[f] > 0) || isinf(rate[f]) || !(window[f] > 0) || isnan(timer[f])) /* nan fails, too */
			return f;
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

			if (d->first_waiting[host] >= 0 || d->line_free[host] > e.time)
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

/* ---- feedback ----------------------------------------------------------------------------------------------------- */

/* When the oldest waiting feedback is due; inf for none. */
double next_due(struct datapath *d)
{
	uint64_t position = *d->consumer;

	if (position >= __atomic_load_n(d->producer, __ATOMIC_ACQUIRE))
		return INFINITY;
	return nominal(d, ((struct record *)(d->data + (position & d->ring_mask) + HEADER))->rx_ns) + d->held;
}

/* INT must come from the same nodes in the same order, with time and bytes that only grow. */
static void check_hops(struct datapath *d, int64_t f, const struct record *r)
{
	int wrong = r->hops != d->hops;

	for (int64_t i = 0; i < r->hops && i < MAX_HOPS; i++) {
		int64_t at = f * MAX_HOPS + i;
		double ts = nominal(d, r->hop[i].ts_ns), tx = (double)r->hop[i].tx_bytes;

		if (d->seen_node[at] >= 0 && d->seen_node[at] != r->hop[i].node)
			wrong = 1;
		if (ts < d->seen_ts[at] || tx < d->seen_tx[at] || (i && ts < nominal(d, r->hop[i - 1].ts_ns)))
			wrong = 1;
		d->seen_node[at] = r->hop[i].node;
		d->seen_ts[at] = ts;
		d->seen_tx[at] = tx;
	}
	d->int_faults += wrong;
}

static void read_hops(struct datapath *d, int64_t row, const struct record *r)
{
	d->row_hops[row] = r->hops;
	for (int64_t i = 0; i < r->hops && i < MAX_HOPS; i++) {
		int64_t at = row * MAX_HOPS + i;

		d->hop_node[at] = r->hop[i].node;
		d->hop_ts[at] = nominal(d, r->hop[i].ts_ns);
		d->hop_tx[at] = (double)r->hop[i].tx_bytes;
		d->hop_queue[at] = r->hop[i].queue;
		d->hop_rate[at] = (double)r->hop[i].rate * 1e-6 / d->seconds_per_ns; /* kbit/s wall to bit/s nominal */
	}
}

static void on_ack(struct datapath *d, int64_t row, int64_t f, const struct record *r, double due)
{
	int64_t ahead = (r->psn - d->expected[f]) & 0xffffff;

	d->row_acked[row]++;
	d->row_bytes[row] += r->frame;
	d->row_ce[row] += r->ce;
	d->row_rtt[row] = due - nominal(d, r->tx_ns);
	count(&d->rtts, d->row_rtt[row]);
	d->acked[f]++;
	d->acked_wire[f] += r->frame;
	d->acked_payload[f] += r->payload;
	d->ce[f] += r->ce;
	d->rtt[f] = d->row_rtt[row];
	if (ahead < HALF) {
		d->expected[f] += ahead + 1;
		d->inflight[f] -= ahead + 1;
		d->lost[f] += ahead;
		d->to_send[f] += ahead;
		d->row_lost[row] += ahead;
	} else {
		d->late[f]++;
		d->lost[f]--;
		if (d->to_send[f] > 0)
			d->to_send[f]--;
	}
	if (d->hops && ahead < HALF)
		check_hops(d, f, r);
	if (r->hops)
		read_hops(d, row, r);
	if (!d->to_send[f] && !d->inflight[f] && isnan(d->finished[f]))
		d->finished[f] = due;
}

/* Acknowledgements that fill the gap before packet `psn` may be waiting behind it: take them now. */
static void fill_gap(struct datapath *d, int64_t row, int64_t f, const struct record *r, uint64_t position, double due)
{
	uint64_t end = __atomic_load_n(d->producer, __ATOMIC_ACQUIRE);
	uint64_t step = HEADER + sizeof(*r);

	for (uint64_t later = position + step; later < end && ((r->psn - d->expected[f]) & 0xffffff); later += step) {
		const uint8_t *slot = d->data + (later & d->ring_mask);
		const struct record *other = (const struct record *)(slot + HEADER);

		if (__atomic_load_n((const uint32_t *)slot, __ATOMIC_ACQUIRE) & BUSY)
			return;
		if (other->flow != r->flow || other->opcode != BTH_ACK || d->taken_length == SWAPS)
			continue;
		if (((uint32_t)(other->psn - d->expected[f]) & 0xffffff) >= ((r->psn - d->expected[f]) & 0xffffff))
			continue;
		on_ack(d, row, f, other, due);
		d->taken[d->taken_length++] = later;
		d->swapped++;
	}
}

static int was_taken(struct datapath *d, uint64_t position)
{
	for (int64_t i = 0; i < d->taken_length; i++) {
		if (d->taken[i] == position) {
			d->taken[i] = d->taken[--d->taken_length];
			return 1;
		}
	}
	return 0;
}

/* Turn everything that is due by `now` into rows; returns their number. A flow occurs once. */
int64_t digest(struct datapath *d, double now)
{
	uint64_t position = *d->consumer, end = __atomic_load_n(d->producer, __ATOMIC_ACQUIRE);
	int64_t rows = 0;

	if ((int64_t)(end - position) > d->high_water)
		d->high_water = (int64_t)(end - position);
	for (; position < end; position += HEADER + sizeof(struct record)) {
		uint8_t *slot = d->data + (position & d->ring_mask);
		struct record *r = (struct record *)(slot + HEADER);
		int64_t f, row;
		double due;

		if (__atomic_load_n((uint32_t *)slot, __ATOMIC_ACQUIRE) & BUSY)
			break; /* another core is still writing it */
		due = nominal(d, r->rx_ns) + d->held;
		if (due > now)
			break;
		if (d->taken_length && was_taken(d, position))
			continue;
		f = (int64_t)r->flow - d->first;
		count(&d->feedback, now - due);
		row = d->row[f];
		if (row < 0) {
			row = d->row[f] = rows++;
			d->row_flow[row] = f;
			d->row_acked[row] = d->row_bytes[row] = d->row_ce[row] = d->row_cnps[row] = d->row_lost[row] = 0;
			d->row_hops[row] = 0;
			d->row_rtt[row] = NAN;
		}
		d->heard[f] = now;
		if (r->opcode == BTH_ACK) {
			int64_t ahead = (r->psn - d->expected[f]) & 0xffffff;

			if (ahead && ahead < HALF)
				fill_gap(d, row, f, r, position, due);
			on_ack(d, row, f, r, due);
		} else {
			d->row_cnps[row]++;
			d->cnps[f]++;
		}
	}
	__atomic_store_n(d->consumer, position, __ATOMIC_RELEASE);
	for (int64_t row = 0; row < rows; row++) {
		int64_t f = d->row_flow[row];

		d->row[f] = -1;
		d->row_last[row] = d->expected[f] - 1;
		d->row_next[row] = d->sent[f];
		d->row_inflight[row] = d->inflight[f] * d->wire_size;
	}
	return rows;
}
