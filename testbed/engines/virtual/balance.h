/* SPDX-License-Identifier: Apache-2.0
 *
 * Which thread works for which part of a rack: by what the parts had to do lately, measured in events. Every few windows the
 * thread with the most gives the one with the least a part, if that brings them closer.
 */
#ifndef TESTBED_BALANCE_H
#define TESTBED_BALANCE_H

#include "parts.h"

#define WINDOWS 8 /* between two looks */

static int64_t events_since(const struct part *one)
{
	return one->world->events_done - one->counted;
}

/* Of that thread's parts the one whose load is closest to half of what it has more than another; NULL for none. */
static struct part *to_be_moved(const struct parts *all, int64_t thread, int64_t more)
{
	struct part *found = NULL;

	for (struct part *one = all->part; one < all->part + all->count; one++) {
		int64_t load = events_since(one);

		if (one->thread == thread && 0 < load && load < more &&
		    (!found || llabs(2 * load - more) < llabs(2 * events_since(found) - more)))
			found = one;
	}
	return found;
}

static void share_out(struct parts *all)
{
	int64_t load[MOST_PARTS] = {0}, most = 0, least = 0;
	struct part *moved;

	if (all->threads == 1 || ++all->windows % WINDOWS)
		return;
	for (struct part *one = all->part; one < all->part + all->count; one++)
		load[one->thread] += events_since(one);
	for (int64_t i = 1; i < all->threads; i++) {
		most = load[i] > load[most] ? i : most;
		least = load[i] < load[least] ? i : least;
	}
	moved = to_be_moved(all, most, load[most] - load[least]);
	if (moved)
		moved->thread = least;
	for (struct part *one = all->part; one < all->part + all->count; one++)
		one->counted = one->world->events_done;
}

#endif
