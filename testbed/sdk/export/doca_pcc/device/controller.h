/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What program.c asks of a controller. Rates are shares of line rate with 20 bits of fraction, as DOCA has them, times
 * are ns. Neither float nor libc; products have 64 bits. A controller knows nothing of DOCA.
 */
#ifndef CONTROLLER_H
#define CONTROLLER_H

#include <stdint.h>

#define LINE_RATE (1u << 20)

enum { OWN_WORDS = 8 };

/* What is known when an answer to a probe is back. */
struct answer {
	uint32_t rtt;
	uint32_t losses; /* NACKs since the answer before */
};

/* What a decision met; program.c counts it. */
enum { MET_FACTOR_LIMIT = 1, MET_LEAST = 2, MET_MOST = 4 };

/* A flow begins; its own words are 0. Returns its rate, not 0. */
uint32_t controller_start(uint32_t own[OWN_WORDS], const uint32_t *parameters);

/* Returns the rate that a flow should have from now on, not 0. */
uint32_t controller_decide(uint32_t own[OWN_WORDS], const uint32_t *parameters, const struct answer *answer,
			   uint32_t *met);

static inline uint32_t limited(uint32_t value, uint32_t least, uint32_t most)
{
	return value < least ? least : value > most ? most : value;
}

#endif
