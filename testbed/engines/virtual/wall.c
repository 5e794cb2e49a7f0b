// SPDX-License-Identifier: Apache-2.0
/*
 * Wall time: nothing happens before it is due on this machine's clock, but for as much as nobody outside can notice, which makes
 * up for interruptions. How late things happen is measured. What happens is the same as without; but for what apps send
 * (app_links.c), which comes in when it comes.
 */
#include "wall.h"
#include "app_links.h"
#include "world.h"

#include <time.h>

#define WAKING 100000 /* ns by which a sleep may end late */
#define BETWEEN 6 /* lengths of a rest, until the next one */
#define OBSERVED 7 /* each of so many events: a look at the clock costs a tenth of one */

int64_t tick_now(const struct wall *wall)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return wall->epoch +
	       (int64_t)((double)(t.tv_sec * 1000000000ll + t.tv_nsec - wall->epoch_ns) * wall->ticks_per_ns);
}

static int64_t tick_due(struct wall *wall)
{
	return wall->reached = tick_now(wall);
}

int64_t tick_of_wall(struct wall *wall, int64_t ago_ns)
{
	return tick_due(wall) - (int64_t)((double)ago_ns * wall->ticks_per_ns);
}

static int is_needed(const struct world *w)
{
	return w->apps && (has_sent(w->apps) || w->apps->next <= w->wall->reached);
}

/* A sleep that began at the tick `before` has ended. */
static void count_rest(struct wall *wall, int64_t before)
{
	int64_t now = tick_due(wall), next = now + BETWEEN * (now - before);

	if (next > wall->next_rest)
		wall->next_rest = next;
}

/*
 * Give others a seventh of this core in short sleeps, half of which it takes to fall asleep and to wake up. Of a real-time
 * process that never sleeps the kernel takes a twentieth at once: 50 ms each second (its fair server; before 6.6 by
 * sched_rt_runtime_us). What is late, as the event at the tick `tick`, comes first.
 */
static void rest(struct wall *wall, int64_t tick)
{
	struct timespec t = {0, 2 * wall->grain};
	int64_t before = wall->reached, length = (int64_t)((double)t.tv_nsec * wall->ticks_per_ns);

	if (before < wall->next_rest || before - tick > length)
		return;
	nanosleep(&t, NULL);
	count_rest(wall, before);
}

int wait_for(struct world *w, int64_t tick)
{
	struct wall *wall = w->wall;
	int64_t due, begin = tick - wall->ahead;

	while ((due = tick_due(wall)) < begin) {
		int64_t until = w->apps && w->apps->next < begin ? w->apps->next : begin;
		int64_t ns = (int64_t)((double)(until - due) / wall->ticks_per_ns) + wall->grain - WAKING;
		struct timespec t = {ns / 1000000000, ns % 1000000000};

		if (is_needed(w))
			return 0;
		if (ns <= 0)
			continue;
		if (w->apps)
			sleep_until_sent(w->apps, &t);
		else
			nanosleep(&t, NULL);
		count_rest(wall, due);
	}
	return 1;
}

int keep_pace(struct world *w, int64_t tick)
{
	struct wall *wall = w->wall;

	if (tick - wall->ahead > wall->reached && !wait_for(w, tick))
		return 0;
	if (++wall->unmeasured < OBSERVED)
		return 1;
	wall->unmeasured = 0;
	count(&wall->lag, (double)(tick_due(wall) - tick) * wall->seconds_per_tick);
	rest(wall, tick);
	return !is_needed(w);
}
