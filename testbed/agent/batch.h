/* SPDX-License-Identifier: Apache-2.0
 *
 * What pace.c decides to send, batch.c makes packets of, and machine.c hands to the kernel.
 */
#ifndef TESTBED_BATCH_H
#define TESTBED_BATCH_H

#include <stddef.h>

#include "datapath.h"

#define CARRIED offsetof(struct roce, opcode) /* a socket carries what follows the UDP header */
#define HEAD (sizeof(struct roce) - CARRIED)  /* BTH and shim: all that differs between packets, but for an RETH */
#define MOST_BEFORE_PAYLOAD (sizeof(struct int_header) + MAX_HOPS * sizeof(struct int_hop) + RETH_SIZE)

void send_due(struct datapath *d, double now);
int64_t write_head(struct datapath *d, int64_t f, int64_t number, uint8_t *head);
void add_to_batch(struct datapath *d, int64_t f, int64_t packets, int64_t number, double due, double now);
void hand_over(struct datapath *d, int64_t host, double now);
int64_t transmit(struct datapath *d, const struct batch *batch);
void pace(struct datapath *d, double until);
void look_again(struct datapath *d, int64_t host, double now);

/* The flow's next packet is due then. */
static inline void due_at(struct datapath *d, int64_t f, double time)
{
	d->flow[f].next = time;
	heap_set(&d->agenda, f, time);
}

#endif
