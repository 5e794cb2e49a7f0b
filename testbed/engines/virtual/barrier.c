// SPDX-License-Identifier: Apache-2.0
/* Where the threads of a rack that is cut into parts meet. */
#include "parts.h"

#define SPINS 2000 /* looks before a thread sleeps: the others most often come soon */

#ifdef __linux__

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void sleep_while(uint32_t *at, uint32_t value)
{
	syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void wake_all(uint32_t *at)
{
	syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

#else

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;

void sleep_while(uint32_t *at, uint32_t value)
{
	pthread_mutex_lock(&lock);
	while (__atomic_load_n(at, __ATOMIC_SEQ_CST) == value)
		pthread_cond_wait(&turned, &lock);
	pthread_mutex_unlock(&lock);
}

void wake_all(uint32_t *at)
{
	(void)at;
	pthread_mutex_lock(&lock);
	pthread_cond_broadcast(&turned);
	pthread_mutex_unlock(&lock);
}

#endif

static void relax(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

/* All threads come here; the last does what is `between`, then all go on. */
void meet(struct parts *all, void (*between)(struct parts *all))
{
	uint32_t turn = __atomic_load_n(&all->turn, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&all->arrived, 1, __ATOMIC_ACQ_REL) == all->threads) {
		between(all);
		__atomic_store_n(&all->arrived, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&all->turn, turn + 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&all->sleeping, __ATOMIC_SEQ_CST))
			wake_all(&all->turn);
		return;
	}
	for (int64_t i = 0; i < SPINS; i++) {
		if (__atomic_load_n(&all->turn, __ATOMIC_ACQUIRE) != turn)
			return;
		relax();
	}
	__atomic_add_fetch(&all->sleeping, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&all->turn, __ATOMIC_SEQ_CST) == turn)
		sleep_while(&all->turn, turn);
	__atomic_sub_fetch(&all->sleeping, 1, __ATOMIC_SEQ_CST);
}
