/* SPDX-License-Identifier: Apache-2.0
 *
 * Packets: made and given back, in queues, and as the programs see them.
 */
#ifndef TESTBED_PACKETS_H
#define TESTBED_PACKETS_H

#include "../../agent/memory.h"
#include "world.h"
#include <linux/bpf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PFC_FRAME 64 /* bytes */

#define LARGE_PAGE (2 << 20) /* bytes */
#define SURPLUS 8192 /* packets of others that a thread keeps before it hands half of them on */

static __thread struct packet *idle_packets, *idle_whole_packets;
static __thread struct packet *current; /* what the programs work on */
static __thread int64_t surplus; /* packets that came to this thread's parts, less those that went elsewhere */
static struct {
	pthread_mutex_t lock;
	struct packet *first;
	int64_t count;
} spare = {.lock = PTHREAD_MUTEX_INITIALIZER}; /* that a thread had too many of: until another has none */

static int is_pause_frame(const struct packet *p)
{
	return p->length == PFC_FRAME && !p->whole;
}

static void drop(struct packet *p)
{
	struct packet **idle = p->whole ? &idle_whole_packets : &idle_packets;

	p->next = *idle;
	*idle = p;
}

static struct packet *take_idle(void)
{
	struct packet *p = idle_packets;

	idle_packets = p->next;
	__builtin_prefetch(idle_packets, 1);
	return p;
}

/* Where more packets end than begin one day all would be, if nobody handed them on. */
static void hand_on_surplus(void)
{
	struct packet *first = idle_packets, *last = first;

	if (surplus < SURPLUS)
		return;
	for (int64_t i = 1; last && i < SURPLUS / 2; i++)
		last = last->next;
	if (!last)
		return;
	idle_packets = last->next;
	pthread_mutex_lock(&spare.lock);
	last->next = spare.first;
	spare.first = first;
	spare.count += SURPLUS / 2;
	pthread_mutex_unlock(&spare.lock);
	surplus -= SURPLUS / 2;
}

/* Whether there are idle packets again. */
static int take_spare(void)
{
	pthread_mutex_lock(&spare.lock);
	idle_packets = spare.first;
	surplus += spare.count;
	spare.first = NULL;
	spare.count = 0;
	pthread_mutex_unlock(&spare.lock);
	return !!idle_packets;
}

/* What programs look at: three lines of a cache. */
static void fetch_packet(const struct packet *p)
{
	__builtin_prefetch(p), __builtin_prefetch(&p->bytes[32]), __builtin_prefetch(&p->bytes[96]);
}

/* In large pages: of a large rack packets are in so many small ones that the TLB forgets them. */
static struct packet *more_packets(void)
{
	const int64_t size = (sizeof(struct packet) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	char *page;

	if (take_spare())
		return take_idle();
	page = needed(aligned_alloc(LARGE_PAGE, LARGE_PAGE));
#ifdef MADV_HUGEPAGE
	madvise(page, LARGE_PAGE, MADV_HUGEPAGE);
#endif
	for (int64_t at = LARGE_PAGE / size - 1; at >= 0; at--) {
		struct packet *p = (struct packet *)(page + at * size);

		p->whole = 0;
		drop(p);
	}
	return take_idle();
}

struct packet *new_packet(void)
{
	return idle_packets ? take_idle() : more_packets();
}

/* With room for all bytes of an app's packet. */
static struct packet *new_whole_packet(const struct world *w)
{
	struct packet *p = idle_whole_packets;

	if (p)
		idle_whole_packets = p->next;
	else
		p = needed(malloc((size_t)w->whole_size));
	p->whole = 1;
	p->data = 0;
	return p;
}

static void append(struct fifo *q, struct packet *p)
{
	p->next = NULL;
	if (q->first)
		q->last->next = p;
	else
		q->first = p;
	q->last = p;
}

static struct packet *take(struct fifo *q)
{
	struct packet *p = q->first;

	q->first = p->next;
	return p;
}

static struct __sk_buff view_of(struct packet *p, int64_t ifindex)
{
	uint64_t data = (uint64_t)(uintptr_t)p->bytes;

	current = p;
	return (struct __sk_buff){
		.len = p->length,
		.protocol = (uint32_t)p->bytes[12] | (uint32_t)p->bytes[13] << 8,
		.ifindex = (uint32_t)ifindex,
		.data = data,
		.data_end = data + (p->length < HEADERS || p->whole ? p->length : HEADERS),
	};
}

#endif
