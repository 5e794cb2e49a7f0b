/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers with a fraction in whole numbers, for cores without floating point: 32 bits each, laid out as IEEE 754's single
 * precision (sign, 8 bits of exponent, 24 of mantissa), rounded to nearest. No division, no table. Results are those of
 * IEEE's arithmetic to the bit, but for what it is rarely asked: there is neither nan (what has no value is 0) nor -0, and
 * what is below 2^-126 is 0.
 */
#ifndef REAL_H
#define REAL_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t real;

#define REAL_INFINITY 0x7f800000u
#define REAL_SIGN 0x80000000u

real real_add(real a, real b);
real real_mul(real a, real b);
real real_div(real a, real b);
real real_sqrt(real a); /* 0 for what is below 0 */
real real_power(real a, int32_t times);

/* value / 2^bits; value. */
real real_scaled(uint32_t value, int32_t bits);
real real_of(int32_t value);

/* a 2^bits, cut off, within 32 bits. */
uint32_t real_word(real a, int32_t bits);

/* Whole numbers: cut off, rounded down, rounded up, within 32 bits. */
int32_t real_whole(real a);
int32_t real_floor(real a);
int32_t real_ceil(real a);

static inline real real_neg(real a)
{
	return a ? a ^ REAL_SIGN : 0;
}

static inline real real_sub(real a, real b)
{
	return real_add(a, real_neg(b));
}

static inline real real_abs(real a)
{
	return a & ~REAL_SIGN;
}

static inline bool real_is_infinite(real a)
{
	return real_abs(a) == REAL_INFINITY;
}

/* In the order of the numbers. */
static inline int32_t real_order(real a)
{
	return a & REAL_SIGN ? -(int32_t)(a & ~REAL_SIGN) : (int32_t)a;
}

static inline bool real_less(real a, real b)
{
	return real_order(a) < real_order(b);
}

static inline bool real_at_most(real a, real b)
{
	return real_order(a) <= real_order(b);
}

static inline real real_min(real a, real b)
{
	return real_less(b, a) ? b : a;
}

static inline real real_max(real a, real b)
{
	return real_less(a, b) ? b : a;
}

#endif
