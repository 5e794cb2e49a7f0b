/* SPDX-License-Identifier: Apache-2.0
 *
 * Credits that this end grants to those who send to it: grants.c. It owns `accounts` and `granters`.
 */
#ifndef TESTBED_GRANTS_H
#define TESTBED_GRANTS_H

#include <stdint.h>
#include "credits.h"

ASIDE void take_arrival(struct datapath *d, const struct record *r, double delay, double now);
ASIDE void credits_due(struct datapath *d, int64_t id, double due, double now);

#endif
