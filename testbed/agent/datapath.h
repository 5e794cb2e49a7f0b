/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of an agent's packets. Each unit's header says what of it is its own; structs.py mirrors it.
 *
 * Time is nominal seconds (double); `seconds_per_ns` and `epoch_ns` come from testbed.clock.
 */
#ifndef TESTBED_DATAPATH_H
#define TESTBED_DATAPATH_H

#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <time.h>

#include "../compiled/decide.h"
#include "../dataplane/maps.h"
#include "credits.h"
#include "decisions.h"
#include "heap.h"
#include "histogram.h"
#include "messages.h"
#include "paths.h"
#include "recovery.h"
#include "tasks.h"

#define SWAPS 64
#define FLOW_RTT_BINS 88 /* per flow: two per octave; as in columns.py */

#define MOST_AT_ONCE 60 /* packets in one system call: the kernel takes 64 segments; as in datapath.py */

#define HEADER 8 /* of a ring buffer record: length, with two flags on top */

/* Packets of one flow that leave back to back. */
struct segment {
	int64_t flow, packets, number; /* of the first */
	double due;
};

/* What goes to the kernel in one system call: segments of one socket; most often one, which is then in one line of the cache. */
struct batch {
	int64_t length, packets, listed; /* in `filled` */
	struct segment segments[MOST_AT_ONCE];
} __attribute__((aligned(64)));

/* A ring buffer of feedback whose paths have one base RTT. Mirrored in structs.py, as is struct datapath. */
struct ring {
	uint64_t *consumer, *producer;
	uint8_t *data;
	int64_t mask;
	double delay; /* of the delay line */
	uint64_t taken[SWAPS]; /* positions of records that were taken out of order */
	int64_t taken_length;
	uint64_t swapped_until; /* the last of them */
	uint64_t looked_at; /* up to there, for data that has been received: it is before its feedback is due */
};

/* The state of a flow: what is used together lies together, in lines of the cache. Mirrored in columns.py, which says what
 * those fields are that the recorder reads. */
struct flow {
	/* sending */
	double rate, window, slot, last, next;
	int64_t sent, inflight, to_send;
	int64_t host, fd, queued, started, after, sent_now;
	int64_t short_at, short_size; /* the one packet that is not full: its number, and its bytes (0: there is none) */
	/* feedback */
	int64_t expected, row, acked, acked_payload, acked_wire;
	double last_feedback, rtt, rtt_sum;
	double finished;
	int64_t ce, lost, late, cnps, hops, rerouted, bin; /* of the newest RTT in `rtt_counts` */
	/* queue_pairs.h: who opened its queue pair, whose controller state is that; the message before it in there, -1 for none;
	 * packets of those before; and of who opened it, its newest message, and another queue pair of these hosts, -1 for none */
	int64_t opener, before, sent_before, newest, next_pair;
	int64_t again; /* packets that were sent under a number that was sent before: all that it has sent are `sent` + `again` */
	int64_t naks; /* that were read */
	int64_t covered; /* of `acked`, less one for each answer that was read: by those that stand for several, or for none */
	int64_t trims; /* packets of which only headers came, as NACKs said */
};

/* Mirrored field by field in structs.py. */
struct datapath {
	/* settings */
	int64_t flows, hosts, epoch_ns;
	double seconds_per_ns, credit, quantum, awake_by, /* when the loop was to wake up */
		relook; /* how often a paused host checks whether it may resume */
	int64_t wire_size, burst, segment, wake_by_ring, first, int_on,
		at_once, /* packets that one system call may carry */
		payload; /* bytes of user data in a full packet */
	struct flow *flow;
	int64_t *rtt_counts; /* FLOW_RTT_BINS per flow */
	int64_t *srcs; /* per flow, that came back */
	/* per host: when the line is free, and the queue of flows that wait for it */
	double *line_free;
	int64_t *first_waiting, *last_waiting;
	/* per host: its entry in `arrivals`, and the bytes of ACKs and CNPs by its NIC that its line has accounted for */
	struct arrivals *arrivals;
	int64_t *interface, *answered;
	/* per host: where its link ends in `arrivals`, bytes that had come out there at the start, less those answered, and
	 * bytes of data given to the shaper since (`uplink` is NULL where arrivals are not counted, or links delay) */
	int64_t *uplink, *arrived_before, *handed;
	int64_t bucket; /* bytes that the host's shaper may queue without lagging */
	double *given_up; /* per host: nominal s for which packets were due and waited for a shaper that lagged */
	/* per host, or per gate: the entry in `pauses` (NULL without priority flow control) */
	int64_t *pause_at;
	struct pause *pauses;
	/* gates.h: per flow its gate (NULL where hosts are paused as a whole), and of each gate who waits there */
	int64_t *gate, *first_held, *last_held;
	/* per host: packets that are due and not handed to the kernel yet; only inside send_due() */
	struct batch *batches;
	int64_t *filled, filled_length; /* hosts that have some, or had */
	/* a full packet of flow 0, as a socket carries it */
	uint8_t *packet;
	int64_t segment_size;
	/* flow: its next packet is due; `flows` + host: the line becomes free for waiting flows; behind these a gate may open, or
	 * something happen with credits */
	struct heap agenda;
	struct heap alarms; /* per flow, the timer that its controller has set */
	struct heap starts; /* of flows */
	double *start; /* per flow, s; inf until it is known */
	int64_t *pair, *first_of_pair; /* number of each flow's two hosts, and their first queue pair; NULL: one per message */
	struct tasks *tasks; /* NULL if no flow waits for others */
	int64_t agent, released; /* number of this agent; flows that were released, and that are in `starts` */
	int64_t *unreported, unreported_length; /* flows whose `sent_now` is above 0 */
	struct ring *rings;
	int64_t ring_count, ring_fd; /* the descriptor is of the first, which is the only one where rings wake us */
	/* feedback of one batch, per row */
	int64_t *row_flow, *row_acked, *row_bytes, *row_ce, *row_inc, *row_cnps, *row_lost, *row_hops, *row_last, *row_next,
		*row_inflight;
	double *row_rtt;
	int64_t *hop_node;
	double *hop_ts, *hop_tx, *hop_queue, *hop_rate;
	/* per flow and hop: the newest INT record, to check that node, time and bytes are in order */
	int64_t *seen_node;
	double *seen_ts, *seen_tx;
	/* own measurements */
	struct histogram rtts, pacing, feedback, timers;
	int64_t refused, high_water, send_error, swapped, int_faults, above_line; /* the last: decisions beyond the line rate */
	struct decisions decisions; /* of a controller per flow; all 0 with one in batches */
	struct paths paths; /* all 0 with one path */
	struct transport transport; /* all 0 with recovery per packet */
	struct messages messages;
	struct credits credits; /* all 0 where receivers grant nothing */
};

/* As a socket carries the one packet that is not full: InfiniBand pads it to words. All other headers are whole words. */
static inline int64_t padded(int64_t size)
{
	return (size + 3) & ~(int64_t)3;
}

static inline const struct record *record_at(const struct ring *ring, uint64_t position)
{
	return (const struct record *)(ring->data + (position & ring->mask) + HEADER);
}

static inline double nominal(const struct datapath *d, uint64_t stamp)
{
	return (double)((int64_t)stamp - d->epoch_ns) * d->seconds_per_ns;
}

/* Whether packet numbers name data. Most often they do not: what they need stays out of the way of others. */
static inline int numbered(const struct datapath *d)
{
	return __builtin_expect(d->transport.recovery != PER_PACKET, 0);
}

/* Whether receivers grant what is sent. */
static inline int has_credits(const struct datapath *d)
{
	return __builtin_expect(d->credits.spenders != NULL, 0);
}

/* The highest packet number acknowledged so far. */
static inline int64_t newest_acked(const struct datapath *d, int64_t f)
{
	return MANY_PATHS && !numbered(d) ? d->paths.flights[f].newest : d->flow[f].expected - 1;
}

/* INT record `i` of an acknowledgement, in nominal units. */
static inline struct cc_hop hop_of(const struct datapath *d, const struct record *r, int64_t i)
{
	return (struct cc_hop){
		.node = r->hop[i].node,
		.ts = nominal(d, r->hop[i].ts_ns),
		.tx_bytes = (double)r->hop[i].tx_bytes,
		.queue = r->hop[i].queue,
		.rate = (double)r->hop[i].rate * 1e-6 / d->seconds_per_ns, /* kbit/s wall to bit/s nominal */
	};
}

#endif
