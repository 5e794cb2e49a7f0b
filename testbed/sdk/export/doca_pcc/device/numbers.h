/* SPDX-License-Identifier: Apache-2.0 */
/* Ratios and roots without a division: tables with lines in between. testbed/sdk/export/numbers.py is the same, bit for bit. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdint.h>

/* part / whole with 32 bits of fraction, for part < whole; off by at most 5e-6 of it, and 2 / 2^32. */
uint32_t ratio(uint32_t part, uint32_t whole);

/* part / (2^34 whole) with 20 bits of fraction, at most 1; off by as much as `ratio`, and 1. */
uint32_t wide_ratio(uint64_t part, uint32_t whole);

/* scale / sqrt(value) for a value with 18 bits of fraction, not 0; off by at most 3e-5 of it, and 1. */
uint32_t over_root(uint32_t scale, uint32_t value);

#endif
