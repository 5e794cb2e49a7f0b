/* SPDX-License-Identifier: Apache-2.0
 *
 * Feedback for whoever decides for many flows at once: gather.c, which owns `struct answers`.
 */
#ifndef TESTBED_GATHER_H
#define TESTBED_GATHER_H

#include <stdint.h>

struct answers;
struct datapath;

int64_t gather(struct datapath *d, struct answers *a, double until, int64_t enough, double began);

#endif
