/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ADPG in whole numbers: from a round-trip time in ns to a rate. Neither float nor division nor libc; products have
 * 64 bits. Nothing here knows DOCA. controllers/adpg/export/fixed.py is the same in Python, bit for bit.
 */
#ifndef ADPG_FIXED_H
#define ADPG_FIXED_H

#include <stdint.h>

#include "parameters.h"

enum { ADPG_FEATURES = 4 };

#define ADPG_LINE (1u << 30)     /* rates have 30 bits of fraction */
#define ADPG_ONE (1 << 16)       /* signals and multipliers have 16 */
#define ADPG_TO_DOCA_RATE 10     /* DOCA's rates have 20 */
#define ADPG_HIGHEST_X (8 << 16)
#define ADPG_TWICE_SCALE 25      /* of x: 12.5 */
#define ADPG_PATIENCE 44         /* RTTs in a row without congestion before a ramp */
#define ADPG_LONGEST 65535u      /* of them that are counted */
#define ADPG_STEEPEST 6554u      /* most that a ramp adds to a multiplier: 0.1 */

/* What a flow needs between decisions, all 0 for a new one: within the controller's 8 words. */
struct adpg_flow {
	uint32_t rate;
	uint32_t oldest;    /* multipliers of the last two decisions */
	uint32_t newest;
	int32_t signal;     /* x at the last decision */
	uint32_t decided;   /* 0: no decision yet */
	uint32_t least_rtt; /* ns; 0: none yet */
	uint32_t idle;      /* RTTs in a row without congestion, up to ADPG_LONGEST */
	uint32_t reserved;
};

/* Which limits a decision met. */
enum { ADPG_FACTOR_LIMITED = 1, ADPG_AT_LEAST = 2, ADPG_AT_LINE = 4 };

void adpg_start(struct adpg_flow *flow, const uint32_t *parameters);
uint32_t adpg_decide(struct adpg_flow *flow, const uint32_t *parameters, uint32_t rtt);

/* ns: RTT through empty queues, as far as it is known. */
uint32_t adpg_base_rtt(const struct adpg_flow *flow, const uint32_t *parameters);

/* Parts of it, for tests. */
uint32_t adpg_root(uint32_t rate);
int32_t adpg_signal(const uint32_t *parameters, uint32_t rtt, uint32_t base_rtt, uint32_t rate);
uint32_t adpg_multiplier(const int32_t features[ADPG_FEATURES]);

#endif
