// SPDX-License-Identifier: Apache-2.0
/*
 * What arrives at hosts with apps. The world hands it out when it knows of it, which may be before it is due. A host's NIC
 * interrupts it when something has arrived, and a while later, if more has, for all that came meanwhile: interrupt moderation. A
 * thread on another core then sends it to the host's veth: the kernel delivers at once what is sent, and with all that TCP does
 * in return that takes as long as many events.
 */
#include "delivery.h"
#include "app_links.h"
#include "offload.h"
#include "parts.h"
#include "wall.h"

#include <string.h>
#include <sys/uio.h>

/* A packet on its way to the host of a link. */
struct handed {
	int64_t length, due;
	struct handed *next; /* that the kernel gets with it */
	uint8_t frame[];
};

/* What the kernel gets as one. */
struct joined {
	struct handed *first, *last;
	int64_t count, head, data; /* packets, bytes of the first one's headers, and of all data; no head: it stays alone */
};

static struct handed *handed_at(const struct app_links *apps, const struct app_link *l, int64_t number)
{
	return (void *)(l->handed + number % apps->handed_slots * apps->handed_size);
}

static void send_joined(struct app_links *apps, const struct app_link *l, const struct joined *j)
{
	struct virtio_net_hdr told = {0};
	struct iovec pieces[MOST_JOINED + 1] = {{&told, sizeof(told)}};
	size_t used = 1;

	if (!j->count)
		return;
	if (j->count > 1)
		told = join(j->first->frame, j->last->frame, j->head, j->data);
	for (struct handed *one = j->first; one; one = one->next) {
		int64_t from = one == j->first ? 0 : j->head;

		pieces[used++] = (struct iovec){one->frame + from, (size_t)(one->length - from)};
	}
	send_to_host(apps, l, pieces, used, j->count);
}

static int takes(const struct joined *j, const struct handed *one, int64_t head)
{
	return j->count && j->head && head && j->count < MOST_JOINED && j->data + one->length <= MOST_BYTES &&
	       continues(j->first->frame, j->last->frame, one->frame, head);
}

/* What the kernel does with what it gets takes its own time, as on the host's machine. */
static void deliver_told(struct app_links *apps, const struct wall *wall, struct app_link *l, int64_t told)
{
	struct joined j = {0};
	int64_t now = tick_now(wall);

	for (int64_t at = l->delivered; at < told; at++) {
		struct handed *one = handed_at(apps, l, at);
		int64_t head = head_of_data(one->frame, one->length);

		count(&apps->late, (double)(now - one->due) * wall->seconds_per_tick);
		if (takes(&j, one, head)) {
			j.last = j.last->next = one;
			j.count++;
			j.data += one->length - head;
			continue;
		}
		send_joined(apps, l, &j);
		j = (struct joined){one, one, 1, head, one->length - head};
	}
	send_joined(apps, l, &j);
	__atomic_store_n(&l->delivered, told, __ATOMIC_RELEASE);
}

/* Whether there was something to deliver. */
static int deliver_all_told(struct app_links *apps, const struct wall *wall)
{
	int found = 0;

	for (struct app_link *l = apps->links; l < apps->links + apps->count; l++) {
		int64_t told = __atomic_load_n(&l->told, __ATOMIC_ACQUIRE);

		if (told != l->delivered) {
			deliver_told(apps, wall, l, told);
			found = 1;
		}
	}
	return found;
}

void deliver_aside(struct app_links *apps, const struct wall *wall)
{
	for (;;) {
		uint32_t turn = __atomic_load_n(&apps->turn, __ATOMIC_SEQ_CST);
		int64_t aside = __atomic_load_n(&apps->aside, __ATOMIC_SEQ_CST);

		if (deliver_all_told(apps, wall))
			continue;
		if (!aside)
			return;
		__atomic_store_n(&apps->sleeping, 1, __ATOMIC_SEQ_CST);
		sleep_while(&apps->turn, turn);
		__atomic_store_n(&apps->sleeping, 0, __ATOMIC_SEQ_CST);
	}
}

static void wake_delivery(struct app_links *apps)
{
	__atomic_add_fetch(&apps->turn, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&apps->sleeping, __ATOMIC_SEQ_CST))
		wake_all(&apps->turn);
}

static void expect_interrupt(struct app_links *apps, struct app_link *l, int64_t due)
{
	int64_t soonest = l->interrupted + apps->moderation;

	l->interrupt = due > soonest ? due : soonest;
	if (l->interrupt < apps->next)
		apps->next = l->interrupt;
}

void hand_out(struct app_links *apps, struct app_link *l, const uint8_t *frame, int64_t length, int64_t due)
{
	struct handed *slot = handed_at(apps, l, l->given);

	if (l->given - __atomic_load_n(&l->delivered, __ATOMIC_ACQUIRE) == apps->handed_slots) {
		__atomic_fetch_add(&apps->refused, 1, __ATOMIC_RELAXED);
		return;
	}
	*slot = (struct handed){length, due, NULL};
	memcpy(slot->frame, frame, (size_t)length);
	if (l->given++ == l->told)
		expect_interrupt(apps, l, due);
}

/* Of all that has arrived, and is late by as much as the interrupt. */
static void interrupt(struct app_links *apps, const struct wall *wall, struct app_link *l)
{
	int64_t told = l->told;
	struct handed *one = NULL;

	for (; told < l->given && (one = handed_at(apps, l, told))->due <= wall->reached; told++)
		one->due = one->due > l->interrupt ? one->due : l->interrupt;
	__atomic_store_n(&l->told, told, __ATOMIC_RELEASE);
	l->interrupted = l->interrupt;
	l->interrupt = INT64_MAX;
	if (told < l->given)
		expect_interrupt(apps, l, one->due);
}

void interrupt_hosts(struct app_links *apps, const struct wall *wall)
{
	if (apps->next > wall->reached)
		return;
	apps->next = INT64_MAX;
	for (struct app_link *l = apps->links; l < apps->links + apps->count; l++) {
		if (l->interrupt <= wall->reached)
			interrupt(apps, wall, l);
		else if (l->interrupt < apps->next)
			apps->next = l->interrupt;
	}
	wake_delivery(apps);
}

void end_delivery(struct app_links *apps)
{
	for (struct app_link *l = apps->links; l < apps->links + apps->count; l++)
		__atomic_store_n(&l->told, l->given, __ATOMIC_RELEASE);
	__atomic_store_n(&apps->aside, 0, __ATOMIC_SEQ_CST);
	wake_delivery(apps);
}
