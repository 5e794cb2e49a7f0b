/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is needed: where there is none the process ends, and its exit code says why (testbed/base/denied.py).
 */
#ifndef TESTBED_MEMORY_H
#define TESTBED_MEMORY_H

#include <unistd.h>

#define NO_MEMORY 12

static inline void *needed(void *memory)
{
	if (!memory)
		_exit(NO_MEMORY);
	return memory;
}

#endif
