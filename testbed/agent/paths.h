/* SPDX-License-Identifier: Apache-2.0
 *
 * Many paths: which packets of a flow are on their way, and with which entropy. paths.c; only in programs that are compiled
 * with MANY_PATHS=1, for racks whose switches or senders spread the packets of a flow.
 *
 * Order means nothing here: every acknowledgement names its packet, and a map with an entry per packet says which have
 * come back. A packet is lost
 *  - if one that left later with the same entropy comes back before it: the same entropy is the same path, there and back,
 *    and a path is a FIFO. So nothing is sent again that was only late.
 *  - if it has not come back for four times the longest RTT that its flow has seen, or for a whole retransmission timeout.
 *    That is all there is where switches choose the paths. In a queue that grows steadily a packet takes less than twice as
 *    long as what came through it before; four leaves room for queues that others fill.
 */
#ifndef TESTBED_PATHS_H
#define TESTBED_PATHS_H

#include <stdint.h>

#include "../compiled/decide.h"
#include "../dataplane/wire.h"

#define CHAINS 256 /* of a flow: packets are linked with those before them whose entropy is the same modulo this */
#define PORTS_KNOWN 4096

/* A packet that was sent. */
struct way {
	double sent; /* nominal s */
	int64_t number;
	int64_t before; /* number of the packet before it in its chain; -1 for none */
	uint16_t entropy;
	uint8_t resolved; /* acknowledged, or ... */
	uint8_t lost; /* ... declared lost */
};

/* Of a flow. */
struct flight {
	struct way *ways; /* by number, modulo `room` */
	int64_t room; /* a power of two */
	int64_t newest; /* the highest number acknowledged so far; -1 for none */
	double longest; /* RTT so far, but at least the base RTT */
	int64_t last[CHAINS]; /* the newest packet of each chain */
};

/* What INT has said of a switch port. */
struct known_port {
	int64_t node;
	double ts, tx;
};

enum choosing { CHOOSE_START, CHOOSE_SEND, CHOOSE_ACK, CHOOSE_LOSS, CHOOSE_TIMEOUT };

/* Every record of a path chooser begins with it. */
struct chosen {
	int64_t entropy;
};

/* Mirrored in structs.py. */
struct paths {
	struct flight *flights; /* per flow */
	struct known_port *known; /* PORTS_KNOWN */
	struct decider *chooser; /* NULL where switches choose */
	double timeout, now; /* the latter when packets leave */
	int64_t failed; /* the chooser has, and says how */
};

struct datapath;
struct ring;

int64_t note_sent(struct datapath *d, int64_t f, int64_t number);
int64_t resolve(struct datapath *d, struct ring *ring, int64_t f, const struct record *r, double rtt, double now);
void tell_path(struct datapath *d, int64_t f, int64_t number, int64_t event, const struct cc_ack *ack, double now);
void check_stack(struct datapath *d, int64_t f, const struct record *r);
void give_up(struct datapath *d, const int64_t *flows, int64_t n, double now);

#endif
