/* SPDX-License-Identifier: Apache-2.0
 *
 * The time of an agent in a world, in ticks: host.c, which is agent/machine.h besides.
 */
#ifndef TESTBED_HOST_H
#define TESTBED_HOST_H

#include <stdint.h>

struct datapath;

int64_t tick_of(const struct datapath *d, double time);

#endif
