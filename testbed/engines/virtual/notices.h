/* SPDX-License-Identifier: Apache-2.0
 *
 * What a world tells the agent that sends in it: notices.c, which owns who that is.
 */
#ifndef TESTBED_NOTICES_H
#define TESTBED_NOTICES_H

#include <stdint.h>
#include "world.h"

struct datapath;

void serves(const struct datapath *d);
void expect_flow(const struct datapath *d, int64_t f); /* fetch its state */
void expect_feedback(uint32_t flow);
void expect_arrival(uint32_t flow);
void data_received(uint32_t flow, int64_t delivered);

static inline void fetch(const void *from, int64_t size)
{
	for (int64_t at = 0; at < size; at += CACHE_LINE)
		__builtin_prefetch((const char *)from + at, 1);
}

#endif
