/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine that an agent is on: its clock, and what takes packets. machine.c, or the virtual engine's host.c.
 */
#ifndef TESTBED_MACHINE_H
#define TESTBED_MACHINE_H

#include <stdint.h>

struct batch;
struct datapath;

double now_seconds(const struct datapath *d);
int64_t transmit(struct datapath *d, const struct batch *batch); /* returns how many packets were taken */
void send_credit(struct datapath *d, int64_t f, int64_t granted);

#endif
