/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages of several packets: RC SEND or RDMA WRITE First, Middle, Last, or Only; and which packets ask for an acknowledgement. messages.c.
 * A flow is as many messages as it needs, one behind the other. Only where packet numbers name data (recovery.h).
 */
#ifndef TESTBED_MESSAGES_H
#define TESTBED_MESSAGES_H

#include <stdint.h>

struct histogram;
struct datapath;

/* Of a flow: when messages that are not acknowledged began to leave, by number modulo `room`. */
struct begun {
	double *at;
	int64_t room; /* a power of two */
	int64_t next; /* number of the first that has not begun */
	int64_t packets; /* of a full one; 0: each packet is one, and nobody asks how long it takes */
};

/* Mirrored in structs.py. */
struct messages {
	int64_t every;	 /* so many packets ask once, besides the last one of each message; 0: that alone */
	struct begun *begun; /* per flow; NULL where each packet is a message */
	struct histogram *times; /* from the departure of the first packet to the acknowledgement of the last */
	int64_t reth; /* RDMA WRITE: where in what a socket carries there is room for an RETH; 0: SEND */
};

int opcode_of(const struct datapath *d, int64_t f, int64_t number);
uint32_t asks_for_ack(const struct datapath *d, int64_t f, int64_t number);
void write_reth(const struct datapath *d, int64_t f, int64_t number, uint8_t *reth);
void messages_begin(struct datapath *d, int64_t f, int64_t number, int64_t packets, double now);
void messages_done(struct datapath *d, int64_t f, int64_t from, int64_t to, double now);

#endif
