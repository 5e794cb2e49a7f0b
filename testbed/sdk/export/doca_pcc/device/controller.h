/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What program.c asks of a controller. Rates are shares of line rate with 20 bits of fraction, as DOCA has them, times
 * are ns. Neither float nor libc; products have 64 bits. A controller knows nothing of DOCA.
 */
#ifndef CONTROLLER_H
#define CONTROLLER_H

#include <stdint.h>

#include "parameters.h"

#define LINE_RATE (1u << 20)

/* What is left of DOCA's 12 words per flow. */
enum { OWN_WORDS = CONTROLLER_PROBES ? 8 : 10 };

/* INT of a switch's port, as the receiver answers (telemetry.h). */
struct telemetry {
	uint32_t valid, hop; /* the position on the path */
	uint32_t queue; /* bytes */
	uint32_t sent, at; /* bytes until `at`, ns: both go round */
};

/* What is known when an answer to a probe is back; without probes: of the event. */
struct answer {
	uint32_t rtt; /* ns */
	uint32_t losses; /* NACKs since the answer before */
	uint32_t marks; /* CNPs since then */
	uint32_t packets, bytes; /* sent since then; bytes without probes */
	uint32_t number; /* of the answer, 0, 2, 4 ...; from MOST_NUMBER on it goes back by half of that */
	uint32_t now; /* ns since controller_moves_on */
	uint32_t rate; /* that the NIC was told */
	struct telemetry hop;
};

enum { MOST_NUMBER = 1 << 13 };

/* What a decision met; program.c counts it. */
enum { MET_FACTOR_LIMIT = 1, MET_LEAST = 2, MET_MOST = 4 };

/* A flow begins; its own words are 0. Returns its rate, not 0. */
uint32_t controller_start(uint32_t own[OWN_WORDS], const uint32_t *parameters);

/* Returns the rate that a flow should have from now on, not 0. */
uint32_t controller_decide(uint32_t own[OWN_WORDS], const uint32_t *parameters, const struct answer *answer,
			   uint32_t *met);

#if CONTROLLER_KEEPS_TIME
/* Times that a flow keeps are from now on so many ns further in the past: they count from the last request. */
void controller_moves_on(uint32_t own[OWN_WORDS], uint32_t ns);
#endif

static inline uint32_t limited(uint32_t value, uint32_t least, uint32_t most)
{
	return value < least ? least : value > most ? most : value;
}

#endif
