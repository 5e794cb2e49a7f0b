/* SPDX-License-Identifier: Apache-2.0
 *
 * What is due together at a host, until machine.c takes it: batch.c. It owns `batches` and `filled`.
 */
#ifndef TESTBED_BATCH_H
#define TESTBED_BATCH_H

#include <stdint.h>

struct datapath;

void add_to_batch(struct datapath *d, int64_t f, int64_t packets, int64_t number, double due, double now);
void hand_over(struct datapath *d, int64_t host, double now);

#endif
