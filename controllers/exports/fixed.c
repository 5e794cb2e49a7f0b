/* SPDX-License-Identifier: Apache-2.0 */
/* A constant rate: no probe, no reaction. program.c walks there from START_RATE_FXP20, one step per PATIENCE_NS. */
#include "controller.h"
#include "parameters.h"

uint32_t controller_start(uint32_t own[OWN_WORDS], const uint32_t *parameters)
{
	(void)own;
	return limited(parameters[START_RATE_FXP20], 1, parameters[RATE_FXP20]);
}

uint32_t controller_decide(uint32_t own[OWN_WORDS], const uint32_t *parameters, const struct answer *answer,
			   uint32_t *met)
{
	(void)own;
	(void)answer;
	(void)met;
	return parameters[RATE_FXP20];
}
