/* SPDX-License-Identifier: Apache-2.0
 *
 * The heads of packets, as sockets carry them: heads.c. They own nothing.
 */
#ifndef TESTBED_HEADS_H
#define TESTBED_HEADS_H

#include <stddef.h>
#include <stdint.h>
#include "../dataplane/wire.h"

#define CARRIED offsetof(struct roce, opcode) /* a socket carries what follows the UDP header */
#define HEAD (sizeof(struct roce) - CARRIED)  /* BTH and shim: all that differs between packets, but for an RETH */
#define MOST_BEFORE_PAYLOAD (sizeof(struct int_header) + MAX_HOPS * sizeof(struct int_hop) + RETH_SIZE)

struct datapath;

int64_t write_head(struct datapath *d, int64_t f, int64_t number, uint8_t *head);
void write_credit(const struct datapath *d, int64_t f, int64_t granted, uint8_t *head);

#endif
