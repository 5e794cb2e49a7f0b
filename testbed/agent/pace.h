/* SPDX-License-Identifier: Apache-2.0
 *
 * Sending what is due: pace.c. It owns the hosts' lines, and the queues of flows that wait for them or at gates.
 */
#ifndef TESTBED_PACE_H
#define TESTBED_PACE_H

#include <stdint.h>

struct datapath;

void send_due(struct datapath *d, double now);
void look_again(struct datapath *d, int64_t host, double now);
void move_flow(struct datapath *d, int64_t f, int64_t host, int64_t fd);

#endif
