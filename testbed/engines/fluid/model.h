/* SPDX-License-Identifier: Apache-2.0
 *
 * The fluid model as C sees it. The columns are numpy's (core.py mirrors this struct field by field): flows have n
 * rows, queues m, probes n * each, a flow's next to each other. SI units, bytes.
 */
#ifndef TESTBED_FLUID_MODEL_H
#define TESTBED_FLUID_MODEL_H

#include <stdint.h>

enum { QUEUE, LEFT, ARRIVED, MARKED, DROPPED, COUNTS }; /* rows of `counts`, `seen` and `heard`; as in queues.py */
enum { TO_SEND, TO_QUEUE, BACK };
/* rows of `told`, the first half whole numbers, then real ones; as in told.py */
enum { NODE, TIMEOUTS, SENT_BYTES, FLOW, PACKETS, BYTES, CE, INC, CNPS, LOST, HOPS, SEQ, NEXT_SEQ, INFLIGHT, REAL };
enum { RTT, SEEN_AT, TX_BYTES, QUEUED, LINE_RATE, MARKED_SHARE };

struct model {
	double now, step, next_start, next_timer, next_probe; /* the earliest; the first two are Python's */
	double wire_size, line_rate, buffer, per_step, /* what a queue sends in a step */
		decision_delay;
	int64_t flows, queues, each, hosts; /* hosts: 0 if none has several flows */
	/* flows: what they may send in a step, and up to where in all; what they have; and scratch */
	double *amount, *window, *limit, *size, *sent, *acked, *lost, *finished, *sending_now, *per_host;
	uint8_t *sending;
	int64_t *host, *queue;
	/* queues: `counts` has a row per count; `ring` is what is under way, a row per step */
	double *counts, *area, *red, *ring, *into_slot;
	int64_t *into, ring_size, at, alike; /* where flows enter; alike: the same way to all queues, or -1 */
	/* probes */
	double *due, *base_rtt, *covers, *rtt, *seen_at, *seen, *first_due; /* the last: of each flow's */
	int8_t *phase;
	/* what a flow has heard by its newest probe, and what was marked of what passed since it was told */
	double *heard_covers, *heard_rtt, *heard_at, *heard, *marked, *passed;
	uint8_t *news; /* whether there is anything to tell */
	/* how much it had sent when it decided, and whether something newer was acknowledged since */
	double *decided_at;
	uint8_t *answered;
	int64_t news_count, answered_count, ended; /* flows; the last: that have sent everything */
	double began, half_at; /* when it was waited for answers, and when half of those had come */
	/* what the controller decided last, and the least rate that is taken */
	double *rate, *timer, least_rate;
	/* what it was told so far (bytes), and what it is told now: a row per number, `flows` apart; whether CE is in it */
	double *told_sent, *told_acked, *told_lost, *told_real;
	int64_t *told, told_ce;
	/* when a flow got its last CNP, and how soon it may get another one */
	double *last_cnp, cnp_interval;
	/* of a run that is shown, what flows have heard so far: sums, times packets for RTTs; and how often which RTT */
	double *rtt_now, *rtt_sum, *rtt_least;
	int64_t *ce, *cnps, *rtt_counts, rtt_bins, rtt_per_octave, *decisions;
};

#endif
