// SPDX-License-Identifier: Apache-2.0
/* One decision after the other, each by a call of the policy; the sum keeps them from being left out. */
#include <stdint.h>

double decide_each(double (*policy)(const void *parameters, const double *features), const void *parameters,
		   const double *features, int64_t n)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += policy(parameters, features + 4 * i);
	return sum;
}
