// SPDX-License-Identifier: Apache-2.0
/*
 * Tells a controller in C, which is linked with it, what it reads from its standard input (c_code.py).
 *
 *	driver        all events; the first decision that cannot be ends it with status 3
 *	driver fuzz N N events of its own, whose every field is as often an extreme as not; what is decided does not matter
 *	driver steps  counts instructions, one by one (ptrace); prints, per kind of event, the most
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testbed_cc.h"

#define EVENTS 8
#define MOST_STEPS 1000000 /* a step takes microseconds */

/* Mirrored in made_up.py and c_code.py. */
struct head {
	int64_t flows, options_size;
};
struct told {
	int64_t flow, event, number;
	double now;
	struct cc_ack ack;
};

extern const struct cc_library cc_library;

static struct head head;
static void *options;
static struct cc_path *paths;
static char **flows; /* each apart: who writes beyond its end is seen */

static void *allocated(int64_t size)
{
	void *memory = calloc(1, (size_t)size);

	if (!memory)
		exit(4);
	return memory;
}

static int have_read(void *memory, int64_t size)
{
	return size == 0 || fread(memory, (size_t)size, 1, stdin) == 1;
}

static void start(int64_t f)
{
	double decided[3] = {paths[f].line_rate, INFINITY, INFINITY};

	memset(flows[f], 0, (size_t)cc_library.flow_size);
	memcpy(flows[f], decided, sizeof(decided));
	memcpy(flows[f] + cc_library.options_at, &options, sizeof(options));
	memcpy(flows[f] + cc_library.path_at, &paths[f], sizeof(*paths));
}

static void prepare(void)
{
	if (!have_read(&head, sizeof(head)))
		exit(4);
	options = allocated(head.options_size);
	paths = allocated(head.flows * (int64_t)sizeof(*paths));
	flows = allocated(head.flows * (int64_t)sizeof(*flows));
	if (!have_read(options, head.options_size) || !have_read(paths, head.flows * (int64_t)sizeof(*paths)))
		exit(4);
	for (int64_t f = 0; f < head.flows; f++)
		flows[f] = allocated(cc_library.flow_size);
}

static void tell(cc_decide_fn *decide, const struct told *t)
{
	void *nothing, *raised;

	decide(&nothing, &raised, (struct cc_flow *)(void *)flows[t->flow], t->event, t->now, t->number, &t->ack);
}

static int tell_all(void)
{
	static struct told t[1];
	int64_t number = 0;
	double decided[3];

	for (; have_read(t, sizeof(*t)); number++) {
		if (t->event == CC_ON_START)
			start(t->flow);
		tell(cc_library.decide, t);
		memcpy(decided, flows[t->flow], sizeof(decided));
		if (!(decided[0] > 0) || isinf(decided[0]) || !(decided[1] > 0) || isnan(decided[2])) {
			printf("%lld %lld %g %g %g\n", (long long)number, (long long)t->event, decided[0], decided[1], decided[2]);
			return 3;
		}
	}
	return 0;
}

static uint64_t drawn(void) /* xorshift64 */
{
	static uint64_t state = 88172645463325252ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static double number(double usual)
{
	static const double extremes[] = {0, 1e-12, 1e-9, 1, 100, 1e6, 1e9, 1e12, 1e15, 1e300};

	return drawn() % 2 ? usual * (double)(drawn() % 1000) / 100 : extremes[drawn() % (sizeof(extremes) / sizeof(*extremes))];
}

static int64_t whole(int64_t usual)
{
	static const int64_t extremes[] = {0, 1, 2, (int64_t)1 << 16, (int64_t)1 << 31, (int64_t)1 << 40, (int64_t)1 << 52};

	return drawn() % 2 ? (int64_t)(drawn() % (uint64_t)usual) : extremes[drawn() % (sizeof(extremes) / sizeof(*extremes))];
}

static void make_up(struct told *t, double now)
{
	struct cc_ack *ack = &t->ack;

	t->flow = (int64_t)(drawn() % (uint64_t)head.flows);
	t->event = drawn() % 500 ? 1 + (int64_t)(drawn() % (EVENTS - 1)) : CC_ON_START;
	t->number = 1 + whole(8);
	t->now = ack->now = now;
	ack->packets = whole(8);
	ack->bytes = whole(8000);
	ack->seq = whole(100000);
	ack->next_seq = whole(100000);
	ack->inflight = whole(100000);
	ack->rtt = number(1e-5) + 1e-12;
	ack->ce_packets = ack->packets ? whole(8) % (ack->packets + 1) : 0;
	ack->inc_packets = ack->packets ? whole(8) % (ack->packets + 1) : 0;
	ack->hop_count = (int64_t)(drawn() % (CC_MOST_HOPS + 1));
	for (int i = 0; i < CC_MOST_HOPS; i++)
		ack->hops[i] = (struct cc_hop){whole(100), number(now), number(1e9), number(1e4), number(1e11) + 1};
}

static int fuzz(long count)
{
	static struct told t[1];
	double now = 0;

	for (int64_t f = 0; f < head.flows; f++)
		start(f);
	for (long i = 0; i < count; i++) {
		now += drawn() % 10000 ? 1e-7 * (double)(drawn() % 100) : number(1);
		if (now > 1e9) /* s: a run is shorter */
			now = 0;
		make_up(t, now);
		if (t->event == CC_ON_START || !i)
			start(t->flow);
		tell(cc_library.decide, t);
	}
	return 0;
}

static void mark(void)
{
	syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1);
}

static int32_t nobody(void *nothing, void **raised, struct cc_flow *flow, int64_t event, double now, int64_t number,
		      const struct cc_ack *ack)
{
	(void)nothing, (void)raised, (void)flow, (void)event, (void)now, (void)number, (void)ack;
	return 0;
}

/* The child: each event between two marks, the first with nobody who decides. Its kind is where the parent reads it. */
static void be_counted(int kinds)
{
	cc_decide_fn *volatile decide = nobody;
	static struct told t[1];
	int64_t kind = EVENTS;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	while (have_read(t, sizeof(*t))) {
		if (t->event == CC_ON_START)
			start(t->flow);
		if (decide != nobody)
			kind = t->event;
		if (write(kinds, &kind, sizeof(kind)) < 0)
			_exit(4);
		mark();
		tell(decide, t);
		mark();
		if (decide == nobody)
			tell(cc_library.decide, t);
		decide = cc_library.decide;
	}
	_exit(0);
}

static int count(void)
{
	int64_t most[EVENTS + 1] = {0}, kind, steps = 0, counting = 0, total = 0, events = -1; /* the first is nobody's */
	int pipes[2], status;
	pid_t child;

	if (pipe(pipes) || (child = fork()) < 0)
		return 4;
	if (!child)
		be_counted(pipes[1]);
	waitpid(child, &status, 0);
	if (!WIFSTOPPED(status) || ptrace(PTRACE_CONT, child, NULL, NULL))
		return 5;
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		int number = WSTOPSIG(status);

		if (number == SIGUSR1 && !counting) {
			if (read(pipes[0], &kind, sizeof(kind)) != sizeof(kind))
				return 4;
			counting = 1;
			steps = 0;
		} else if (number == SIGUSR1) {
			counting = 0;
			events++;
			total += steps;
			if (steps > most[kind])
				most[kind] = steps;
		} else if (number != SIGTRAP) {
			fprintf(stderr, "it crashed: %s\n", strsignal(number));
			kill(child, SIGKILL);
			return 6;
		}
		steps++;
		if (!counting && total > MOST_STEPS) {
			kill(child, SIGKILL);
			waitpid(child, &status, 0);
			status = 0;
			break;
		}
		if (ptrace(counting ? PTRACE_SINGLESTEP : PTRACE_CONT, child, NULL, NULL))
			return 5;
	}
	for (int i = 0; i < EVENTS; i++)
		printf("%lld ", most[i] ? (long long)(most[i] - most[EVENTS]) : -1ll);
	printf("%lld\n", (long long)events);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 6;
}

int main(int arguments, char **argument)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a callback may never return, and whoever waits for it gives up */
	prepare();
	if (arguments > 2 && !strcmp(argument[1], "fuzz"))
		return fuzz(atol(argument[2]));
	return arguments > 1 && !strcmp(argument[1], "steps") ? count() : tell_all();
}
