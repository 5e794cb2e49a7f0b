/* SPDX-License-Identifier: Apache-2.0
 *
 * Packets whose numbers name data, as a NIC's do: `expected` of a flow is the oldest that was not acknowledged, `sent` the next
 * new one, and what is lost is sent again under its number; recovery.c. (With recovery per packet a number is never used
 * again: feedback.c, paths.c.)
 *
 * Go-back-N: a NAK, or a timeout, sends the flow back to a number; `sent` is then that.
 * Selective repeat: NAKs name what came out of order as well, so that what is missing is known, and that alone is sent again.
 * A packet is lost if one that left later has come: a path is a FIFO. Where there are several, it has to be overdue as well.
 */
#ifndef TESTBED_RECOVERY_H
#define TESTBED_RECOVERY_H

#include <stdint.h>

/* A packet that may be sent again (selective repeat). */
struct sending {
	double time;   /* when it left, nominal s */
	int64_t order; /* of leaving, among all that its flow has sent */
	uint8_t arrived, lost;
};

/* Of a flow. */
struct queue_pair {
	struct sending *sendings; /* by number, modulo `bitmap`; made for its first packet */
	int64_t lost; /* packets that wait to be sent again */
	int64_t first_lost; /* none is before it */
	int64_t highest; /* one beyond the highest number that was sent */
	int64_t tries; /* timeouts since something was acknowledged */
	double longest; /* RTT so far, but at least the base RTT */
};

/* Mirrored in structs.py. */
struct transport {
	int64_t recovery; /* enum recovery */
	int64_t bitmap; /* packets that a receiver keeps behind a missing one: a power of two */
	int64_t retries; /* timeouts in a row, after which a queue pair is in error; -1: never */
	double timeout;
	struct queue_pair *pairs; /* per flow */
	int64_t in_error; /* queue pairs that have given up */
};

struct datapath;
struct record;

/* What an answer says: it acknowledges so many packets, which nothing had acknowledged before; of them so many were marked. */
struct progress {
	int64_t packets, frame, payload, ce, lost;
};

/* Whoever recovers per packet never calls them: they must not make those functions larger that every packet passes. */
#define APART __attribute__((noinline))

APART int64_t sendable(const struct datapath *d, int64_t f);
APART int64_t next_number(struct datapath *d, int64_t f, int64_t *packets);
APART void note_departure(struct datapath *d, int64_t f, int64_t number, int64_t packets, double now);
APART void not_sent(struct datapath *d, int64_t f, int64_t number, int64_t packets);
APART struct progress recover(struct datapath *d, int64_t f, const struct record *r, double rtt, double due,
			 double now);
APART void send_again(struct datapath *d, const int64_t *flows, int64_t n, double now);

#endif
