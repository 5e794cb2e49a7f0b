/* SPDX-License-Identifier: Apache-2.0 */
#include "numbers.h"

#include "numbers_tables.h"

/* How far a number, not 0, can be shifted up within 32 bits. */
static uint32_t room(uint32_t value)
{
	uint32_t shift = 0;

	for (uint32_t bits = 16; bits; bits >>= 1) {
		if (value >> (32 - bits) == 0) {
			value <<= bits;
			shift += bits;
		}
	}
	return shift;
}

/* 2^62 / whole, for a whole of 2^31 to 2^32. */
static uint64_t reciprocal(uint32_t whole)
{
	const uint32_t step = (whole >> 23) - 256;
	const uint64_t high = reciprocals[step];

	return high - ((high - reciprocals[step + 1]) * (whole & 0x7fffff) >> 23);
}

uint32_t ratio(uint32_t part, uint32_t whole)
{
	const uint32_t shift = room(whole);
	const uint64_t share = (uint64_t)(part << shift) * reciprocal(whole << shift) >> 30;

	return share > 0xffffffff ? 0xffffffff : (uint32_t)share;
}

uint32_t wide_ratio(uint64_t part, uint32_t whole)
{
	const uint32_t shift = room(whole);

	if (part >> 34 >= whole)
		return 1u << 20;
	return (uint32_t)(((part >> 2) << shift >> 32) * reciprocal(whole << shift) >> 42);
}

uint32_t over_root(uint32_t scale, uint32_t value)
{
	const uint32_t shift = room(value) & ~1u;
	const uint32_t even = value << shift, step = (even >> 24) - 64;
	const uint64_t high = inverse_roots[step];
	const uint64_t inverse = high - ((high - inverse_roots[step + 1]) * (even & 0xffffff) >> 24);

	return (uint32_t)(scale * inverse >> (37 - shift / 2));
}
