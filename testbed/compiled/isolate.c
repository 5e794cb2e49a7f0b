// SPDX-License-Identifier: Apache-2.0
/*
 * Calls a controller that is C in a process of its own: whatever it overwrites, it is not the run's memory.
 *
 * The process begins with the first call. What a call needs goes through shared memory, and both sleep on a futex. Its
 * statics live there; options are shared memory as well (records.py).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "decide.h"

enum { PARENT, CHILD, KEPT = 256 };
#define LOOK 100000000 /* ns: after which the parent looks whether the other is still there */

/* One event that was told; mirrored in isolated.py. */
struct past {
	int64_t flow, event, number;
	double now, rtt;
};

struct apart {
	uint32_t turn; /* the futex: whose it is */
	int32_t status;
	int64_t event, number, crashed_at, told;
	double now;
	struct cc_ack ack;
	struct past past[KEPT];
	char flow[];
};

extern int64_t crashed_at;
decide_fn guarded, isolated;

static void give(uint32_t *turn, uint32_t to)
{
	__atomic_store_n(turn, to, __ATOMIC_RELEASE);
	syscall(SYS_futex, turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Whether it is the turn of `own`; waits for at most LOOK. */
static int have_waited(uint32_t *turn, uint32_t own)
{
	const struct timespec look = {0, LOOK};

	if (__atomic_load_n(turn, __ATOMIC_ACQUIRE) == own)
		return 1;
	syscall(SYS_futex, turn, FUTEX_WAIT, !own, &look, NULL, 0);
	return __atomic_load_n(turn, __ATOMIC_ACQUIRE) == own;
}

static void serve(struct decider *c, struct apart *apart)
{
	void *nothing;

	for (;;) {
		while (!have_waited(&apart->turn, CHILD))
			;
		apart->status = guarded(&nothing, &c->raised, (struct decided *)(void *)apart->flow, apart->event, apart->now,
					apart->number, &apart->ack);
		apart->crashed_at = crashed_at;
		give(&apart->turn, PARENT);
	}
}

/* Destructors of libraries may wait for threads, which a fork does not have. */
static void leave(void)
{
	_exit(0);
}

static int begun(struct decider *c)
{
	struct apart *apart = mmap(NULL, sizeof(*apart) + (size_t)c->size, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const pid_t parent = getpid();

	if (apart == MAP_FAILED)
		return 0;
	c->apart = apart;
	c->child = fork(); /* kept where the child cannot write to it */
	if (c->child)
		return c->child > 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || atexit(leave)) /* what was registered last comes first */
		_exit(0);
	serve(c, apart);
	return 0;
}

static int32_t ended(struct decider *c)
{
	int status;
	const pid_t found = waitpid((pid_t)c->child, &status, WNOHANG);

	if (found == 0)
		return 0;
	c->child = 0;
	return CRASHED + (found > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0); /* 0: it has called exit */
}

int32_t isolated(void *nothing, void **raised, struct decided *flow, int64_t event, double now, int64_t number,
		 const struct cc_ack *ack)
{
	struct decider *c = (struct decider *)((char *)raised - offsetof(struct decider, raised));
	struct apart *apart;
	int32_t status;

	(void)nothing;
	if (!c->apart && !begun(c))
		return CRASHED + SIGABRT; /* no memory, or no process */
	if (c->child <= 0)
		return CRASHED;
	apart = c->apart;
	apart->past[apart->told++ % KEPT] = (struct past){((char *)flow - c->flows) / c->size, event, number, now,
							   ack ? ack->rtt : NAN};
	apart->event = event;
	apart->now = now;
	apart->number = number;
	if (ack)
		apart->ack = *ack;
	memcpy(apart->flow, flow, (size_t)c->size);
	give(&apart->turn, CHILD);
	while (!have_waited(&apart->turn, PARENT)) {
		if ((status = ended(c)))
			return status;
	}
	memcpy(flow, apart->flow, (size_t)c->size);
	crashed_at = apart->crashed_at;
	return apart->status;
}

/* The process ends; nothing is called any more. */
void let_go(struct decider *c)
{
	struct apart *apart = c->apart;

	if (!apart)
		return;
	if (c->child > 0) {
		kill((pid_t)c->child, SIGKILL);
		waitpid((pid_t)c->child, NULL, 0);
	}
	munmap(apart, sizeof(*apart) + (size_t)c->size);
	c->apart = NULL;
}
