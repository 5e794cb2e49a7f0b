// SPDX-License-Identifier: Apache-2.0
/*
 * From the ring buffer to one row of feedback per flow.
 *
 * Where the kernel has no netem, a record is handed on `held` seconds after it arrived (the delay line) and that time is
 * part of the RTT; until then it stays in the ring. Packets of a flow do not overtake each other in the network, so a
 * gap in the acknowledged packet numbers is a loss. The cores of this machine may swap two of them, though: what fills a
 * gap and is already in the ring is taken first. A packet that is acknowledged after it was given up counts as late, and
 * is not lost.
 */
#include "datapath.h"

#define HEADER 8 /* of a ring buffer record: length, with two flags on top */
#define BUSY 0xc0000000u
#define HALF 0x800000 /* packet numbers have 24 bits: the nearer half is ahead, the other behind */

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
	d->rtt_counts[f * FLOW_RTT_BINS + count(&d->rtts, d->row_rtt[row]) * FLOW_RTT_BINS / d->rtts.bins]++;
	d->rtt_sum[f] += d->row_rtt[row];
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
