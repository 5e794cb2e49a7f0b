// SPDX-License-Identifier: Apache-2.0
/* real.c beside the floating point of this machine; random numbers, extremes among them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "real.h"

static uint64_t state = 88172645463325252ull;

static uint64_t drawn(void) /* xorshift64 */
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static float as_float(real a)
{
	float x;

	memcpy(&x, &a, sizeof(x));
	return x;
}

/* What real.c has no number for is 0. */
static real as_real(float x)
{
	real a;

	if (isnan(x) || fabsf(x) < 0x1p-126f)
		return 0;
	memcpy(&a, &x, sizeof(a));
	return a;
}

static real number(void)
{
	static const real extremes[] = {0, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x00800000,
					0x7f7fffff, 0x3f7fffff, 0x40000000, 0x4b800000, 0xcf000000};
	const uint64_t bits = drawn();

	if (bits % 16 == 0)
		return extremes[bits / 16 % (sizeof(extremes) / sizeof(*extremes))];
	if (bits & 1) /* such as occur */
		return as_real(as_float(((uint32_t)(bits >> 20) & 0x807fffff) | (uint32_t)(110 + (bits >> 8) % 40) << 23));
	return as_real(as_float((uint32_t)(bits >> 20)));
}

/* How many of `n` results each function has wrong. */
void compare(int64_t n, int64_t *wrong)
{
	for (int64_t i = 0; i < n; i++) {
		const real a = number();
		const real b = drawn() % 8 ? number() : as_real(as_float(a ^ (uint32_t)(drawn() & 0x80000003)));
		const float x = as_float(a), y = as_float(b);
		const int32_t whole = (int32_t)drawn();
		const uint32_t word = (uint32_t)drawn();

		wrong[0] += real_add(a, b) != as_real(x + y);
		wrong[1] += real_sub(a, b) != as_real(x - y);
		wrong[2] += fabs((double)x * y) >= 0x1p-126 && real_mul(a, b) != as_real(x * y);
		wrong[3] += fabs((double)x / y) >= 0x1p-126 && real_div(a, b) != as_real(x / y);
		wrong[4] += real_sqrt(a) != as_real(sqrtf(x));
		wrong[5] += real_less(a, b) != (x < y) || real_at_most(a, b) != (x <= y);
		wrong[6] += real_min(a, b) != as_real(y < x ? y : x) || real_max(a, b) != as_real(y > x ? y : x);
		wrong[7] += fabsf(x) < 0x1p31f && (real_whole(a) != (int32_t)x || real_floor(a) != (int32_t)floorf(x) ||
						   real_ceil(a) != (int32_t)ceilf(x));
		wrong[8] += real_of(whole) != as_real((float)whole);
		wrong[9] += real_scaled(word, 24) != as_real(ldexpf((float)word, -24));
		wrong[10] += x >= 0 && x < 0x1p8f && real_word(a, 24) != (uint32_t)ldexp(x, 24);
		wrong[11] += real_power(a, 5) != real_mul(real_mul(real_mul(a, a), real_mul(a, a)), a);
	}
}
