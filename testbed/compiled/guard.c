// SPDX-License-Identifier: Apache-2.0
/*
 * Calls a controller that is C: where it crashes, the call ends with a status that says by which signal.
 *
 * A signal that comes while no controller is called is passed on to whoever had it before.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <ucontext.h>

#include "decide.h"

static const int CAUGHT[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
#define STACK (1 << 16)
#define COUNT (sizeof(CAUGHT) / sizeof(*CAUGHT))

static struct sigaction before[COUNT];
static __thread jmp_buf *way_out __attribute__((tls_model("initial-exec")));
int64_t crashed_at; /* the instruction, if the machine says so */

static int64_t instruction(const ucontext_t *context)
{
#if defined(__x86_64__)
	return (int64_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return (int64_t)context->uc_mcontext.pc;
#else
	(void)context;
	return 0;
#endif
}

static void caught(int number, siginfo_t *info, void *context)
{
	(void)info;
	if (way_out) {
		crashed_at = instruction(context);
		longjmp(*way_out, number);
	}
	for (size_t i = 0; i < COUNT; i++) { /* what has failed fails again, and finds who was there before */
		if (CAUGHT[i] == number)
			sigaction(number, &before[i], NULL);
	}
}

/* From now on crashes of this process are looked at. Python's faulthandler, if it is enabled later, takes them back. */
void arm(void)
{
	struct sigaction ours = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK}, now;
	stack_t apart;

	sigaltstack(NULL, &apart);
	if (apart.ss_flags & SS_DISABLE) { /* the stack may be what a controller has used up */
		apart = (stack_t){.ss_sp = malloc(STACK), .ss_size = STACK};
		if (apart.ss_sp)
			sigaltstack(&apart, NULL);
	}
	for (size_t i = 0; i < COUNT; i++) {
		sigaction(CAUGHT[i], NULL, &now);
		if (now.sa_sigaction != caught)
			sigaction(CAUGHT[i], &ours, &before[i]);
	}
}

int32_t guarded(void *nothing, void **raised, struct decided *flow, int64_t event, double now, int64_t number,
		const struct cc_ack *ack)
{
	struct decider *c = (struct decider *)((char *)raised - offsetof(struct decider, raised));
	jmp_buf here;
	int32_t status;
	int signal = setjmp(here);

	if (signal) {
		way_out = NULL;
		return CRASHED + signal;
	}
	way_out = &here;
	status = c->native(nothing, raised, flow, event, now, number, ack);
	way_out = NULL;
	return status;
}
