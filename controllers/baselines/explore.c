// SPDX-License-Identifier: Apache-2.0
/*
 * Policies that explore, for the compiled rollouts (../adpg/rollout.c). `parameters`, which they write to: the state of their
 * dice, the deviation of an action, how many layers, the widths of all, and weights, a row per output with its bias at the end.
 */
#include <math.h>

enum { WIDEST = 32, FACTORS = 6, HIGHEST = 8 /* feature: ADPG's limit of x */ };

static const double factors[FACTORS] = { 0.8, 0.95, 1.0, 1.05, 1.1, 1.2 };

/* Between 0 and 1: Lehmer's generator, which fits into a double. */
static double uniform(double *dice)
{
	*dice = fmod(*dice * 16807, 2147483647);
	return *dice / 2147483647;
}

/* What a network with ReLU between its layers makes of the features. */
static void answer(const double *given, const double *features, double *values)
{
	int layers = (int)given[2];
	const double *widths = given + 3, *weights = widths + layers + 1;
	double sums[WIDEST];

	for (int i = 0; i < (int)widths[0]; i++)
		values[i] = features[i] < HIGHEST ? features[i] : HIGHEST;
	for (int layer = 0; layer < layers; layer++) {
		int inputs = (int)widths[layer], outputs = (int)widths[layer + 1];

		for (int j = 0; j < outputs; j++) {
			sums[j] = 0;
			for (int i = 0; i < inputs; i++)
				sums[j] += values[i] * *weights++;
			sums[j] += *weights++;
		}
		for (int j = 0; j < outputs; j++)
			values[j] = layer + 1 < layers && sums[j] < 0 ? 0 : sums[j];
	}
}

/* One of the factors, drawn. */
double choose(void *parameters, const double *features)
{
	double values[WIDEST], total = 0, left;

	answer(parameters, features, values);
	for (int i = 0; i < FACTORS; i++)
		total += values[i] = exp(values[i]);
	left = total * uniform(parameters);
	for (int i = 0; i < FACTORS - 1; i++)
		if ((left -= values[i]) < 0)
			return factors[i];
	return factors[FACTORS - 1];
}

/* A factor around what the network says, as ADPG's (../adpg/observation.py). */
double vary(void *parameters, const double *features)
{
	double *given = parameters, values[WIDEST], action;

	answer(given, features, values);
	action = tanh(values[0]);
	if (given[1] > 0)
		action += given[1] * sqrt(-2 * log(uniform(given))) * cos(6.283185307179586 * uniform(given));
	action = action > 1 ? 1 : action < -1 ? -1 : action;
	return action >= 0 ? 1 + 0.2 * action : 1 / (1 - 0.2 * action);
}
