/* SPDX-License-Identifier: Apache-2.0 */
#include "real.h"

enum { BIAS = 150, MANTISSA = 23, MOST_EXPONENT = 255 }; /* value = mantissa 2^(exponent - BIAS) */

static int32_t exponent_of(real a)
{
	return (int32_t)(a >> MANTISSA & 0xff);
}

static uint32_t mantissa_of(real a)
{
	return (a & 0x7fffff) | 1u << MANTISSA;
}

/* value 2^exponent as a number, rounded to nearest and, halfway, to even. */
static real rounded(uint32_t sign, uint64_t value, int32_t exponent)
{
	uint32_t shift;
	uint64_t kept, rest;

	if (value == 0)
		return 0;
	shift = (uint32_t)__builtin_clzll(value) & 63; /* an instruction, or a dozen of them: no call */
	value <<= shift;
	kept = value >> 40;
	rest = value & 0xffffffffffull;
	exponent += 40 + BIAS - (int32_t)shift;
	if (rest > 1ull << 39 || (rest == 1ull << 39 && (kept & 1)))
		kept++;
	if (kept >> 24) {
		kept >>= 1;
		exponent++;
	}
	if (exponent <= 0)
		return 0;
	if (exponent >= MOST_EXPONENT)
		return sign | REAL_INFINITY;
	return sign | (uint32_t)exponent << MANTISSA | ((uint32_t)kept & 0x7fffff);
}

real real_add(real a, real b)
{
	const real more = real_abs(a) < real_abs(b) ? b : a, less = more == a ? b : a;
	const int32_t apart = exponent_of(more) - exponent_of(less);
	uint64_t high, low;

	if (real_is_infinite(more))
		return less == (more ^ REAL_SIGN) ? 0 : more;
	if (less == 0)
		return more;
	high = (uint64_t)mantissa_of(more) << 38;
	low = (uint64_t)mantissa_of(less) << 38;
	low = apart < 64 ? low >> apart | (low << ((64 - apart) & 63) && apart) : 1; /* what is cut off still counts */
	return rounded(more & REAL_SIGN, (more ^ less) & REAL_SIGN ? high - low : high + low,
		       exponent_of(more) - BIAS - 38);
}

real real_mul(real a, real b)
{
	const uint32_t sign = (a ^ b) & REAL_SIGN;

	if (a == 0 || b == 0)
		return 0;
	if (real_is_infinite(a) || real_is_infinite(b))
		return sign | REAL_INFINITY;
	return rounded(sign, (uint64_t)mantissa_of(a) * mantissa_of(b), exponent_of(a) + exponent_of(b) - 2 * BIAS);
}

real real_div(real a, real b)
{
	const uint32_t sign = (a ^ b) & REAL_SIGN, by = mantissa_of(b);
	uint64_t quotient = 0;
	uint32_t left = mantissa_of(a);

	if (a == 0 || real_is_infinite(b))
		return 0;
	if (b == 0 || real_is_infinite(a))
		return sign | REAL_INFINITY;
	for (int bit = 0; bit < 27; bit++) { /* as on paper */
		quotient <<= 1;
		if (left >= by) {
			left -= by;
			quotient |= 1;
		}
		left <<= 1;
	}
	return rounded(sign, quotient << 1 | (left != 0), exponent_of(a) - exponent_of(b) - 27);
}

real real_sqrt(real a)
{
	const int32_t odd = (exponent_of(a) - BIAS) & 1;
	uint64_t left = (uint64_t)mantissa_of(a) << (28 + odd), root = 0;

	if (a == 0 || a & REAL_SIGN)
		return 0;
	if (real_is_infinite(a))
		return a;
	for (uint64_t bit = 1ull << 52; bit; bit >>= 2) { /* as on paper */
		if (left >= root + bit) {
			left -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return rounded(0, root << 1 | (left != 0), ((exponent_of(a) - BIAS - odd) >> 1) - 15);
}

real real_power(real a, int32_t times)
{
	real power = real_of(1);

	for (uint32_t bits = times < 0 ? 0 - (uint32_t)times : (uint32_t)times; bits; bits >>= 1) {
		if (bits & 1)
			power = real_mul(power, a);
		a = real_mul(a, a);
	}
	return times < 0 ? real_div(real_of(1), power) : power;
}

real real_scaled(uint32_t value, int32_t bits)
{
	return rounded(0, value, -bits);
}

real real_of(int32_t value)
{
	return value < 0 ? rounded(REAL_SIGN, 0 - (uint32_t)value, 0) : rounded(0, (uint32_t)value, 0);
}

uint32_t real_word(real a, int32_t bits)
{
	const int32_t shift = exponent_of(a) - BIAS + bits;

	if (a == 0 || a & REAL_SIGN || shift <= -24)
		return 0;
	if (real_is_infinite(a) || shift > 8)
		return UINT32_MAX;
	return shift < 0 ? mantissa_of(a) >> -shift : mantissa_of(a) << shift;
}

int32_t real_whole(real a)
{
	const uint32_t size = real_word(real_abs(a), 0);

	if (size > INT32_MAX)
		return a & REAL_SIGN ? INT32_MIN : INT32_MAX;
	return a & REAL_SIGN ? -(int32_t)size : (int32_t)size;
}

int32_t real_floor(real a)
{
	const int32_t whole = real_whole(a);

	return real_less(a, real_of(whole)) && whole > INT32_MIN ? whole - 1 : whole;
}

int32_t real_ceil(real a)
{
	const int32_t whole = real_whole(a);

	return real_less(real_of(whole), a) && whole < INT32_MAX ? whole + 1 : whole;
}
