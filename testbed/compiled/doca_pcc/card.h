/* SPDX-License-Identifier: Apache-2.0 */
/* The card that a program finds (card.c), for what tells it events: rack.c here, and tests. One algorithm, index 0, slot 0. */
#ifndef CARD_H
#define CARD_H

#include "doca_pcc_dev_algo_access.h"

enum { MOST_PARAMETERS = DOCA_PCC_DEV_MAX_NUM_PARAMS_PER_ALGO, MOST_COUNTERS = DOCA_PCC_DEV_MAX_NUM_COUNTERS_PER_ALGO };

/* What a program has declared. */
struct card_declared {
	uint32_t initial, most, least, permissions;
	char text[128]; /* "NAME, text" */
};

extern struct card_declared card_parameters[MOST_PARAMETERS], card_counters[MOST_COUNTERS];
extern uint32_t card_parameter_count, card_counter_count;
extern uint32_t card_masked; /* a bit per type of event that the program does not want */
extern uint32_t card_slots[DOCA_PCC_DEV_MAX_NUM_PORTS];
extern uint32_t card_values[MOST_PARAMETERS], card_counted[MOST_COUNTERS], card_counting;
extern const char *card_refused; /* what a card would not take; NULL: nothing */

/* What is so while an event is told. */
extern __thread struct card_moment {
	uint32_t *values; /* of the parameters; NULL: card_values */
	double now; /* s */
	double line_rate; /* bit/s */
} card_moment;

/* The program registers what it has. */
void card_start(void);

#endif
