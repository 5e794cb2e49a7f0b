// SPDX-License-Identifier: Apache-2.0
/*
 * What arrives at hosts with apps. The world hands it out when it knows of it, which may be before it is due. Of what is due it
 * tells a thread on another core, which sends it to the veth: the kernel delivers at once what is sent, and with all that TCP
 * does in return that takes as long as many events. It costs a core to be woken, too: packets wait for those that follow soon, as
 * at a card that moderates interrupts.
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
	int64_t link, length, due;
	struct handed *next; /* that is delivered with it */
	uint8_t frame[];
};

static struct handed *handed_at(const struct app_links *apps, int64_t number)
{
	return (void *)(apps->handed + number % apps->handed_slots * apps->handed_size);
}

/* Those of a link that are to be delivered as one. */
static void deliver_joined(struct app_links *apps, const struct wall *wall, struct app_link *l)
{
	struct virtio_net_hdr told = {0};
	struct iovec pieces[MOST_JOINED + 1] = {{&told, sizeof(told)}};
	size_t used = 1;
	int64_t head = 0, now;

	if (!l->first)
		return;
	if (l->joined > 1) {
		head = head_of_data(l->first->frame, l->first->length);
		told = join(l->first->frame, l->last->frame, head, l->data);
	}
	for (struct handed *one = l->first; one; one = one->next) {
		int64_t from = one == l->first ? 0 : head;

		pieces[used++] = (struct iovec){one->frame + from, (size_t)(one->length - from)};
	}
	send_to_host(apps, l, pieces, used, l->joined);
	now = tick_now(wall);
	for (const struct handed *one = l->first; one; one = one->next)
		count(&apps->late, (double)(now - one->due) * wall->seconds_per_tick);
	l->first = NULL;
}

static void deliver_next(struct app_links *apps, const struct wall *wall, struct handed *one)
{
	struct app_link *l = &apps->links[one->link];
	int64_t head = head_of_data(one->frame, one->length);

	if (l->first && head && l->data && l->joined < MOST_JOINED &&
	    continues(l->first->frame, l->last->frame, one->frame, head)) {
		l->last = l->last->next = one;
		l->joined++;
		l->data += one->length - head;
		return;
	}
	deliver_joined(apps, wall, l);
	l->first = l->last = one;
	l->joined = 1;
	l->data = head ? one->length - head : 0;
}

static void deliver_told(struct app_links *apps, const struct wall *wall, int64_t told)
{
	for (int64_t at = apps->delivered; at < told; at++)
		deliver_next(apps, wall, handed_at(apps, at));
	for (struct app_link *l = apps->links; l < apps->links + apps->count; l++)
		deliver_joined(apps, wall, l);
	__atomic_store_n(&apps->delivered, told, __ATOMIC_RELEASE);
}

void deliver_aside(struct app_links *apps, const struct wall *wall)
{
	for (;;) {
		uint32_t turn = __atomic_load_n(&apps->turn, __ATOMIC_SEQ_CST);
		int64_t told = __atomic_load_n(&apps->told, __ATOMIC_SEQ_CST);

		if (told != apps->delivered) {
			deliver_told(apps, wall, told);
			continue;
		}
		if (!__atomic_load_n(&apps->aside, __ATOMIC_SEQ_CST))
			return;
		__atomic_store_n(&apps->sleeping, 1, __ATOMIC_SEQ_CST);
		sleep_while(&apps->turn, turn);
		__atomic_store_n(&apps->sleeping, 0, __ATOMIC_SEQ_CST);
	}
}

static void wake_delivery(struct app_links *apps, int64_t told)
{
	__atomic_store_n(&apps->told, told, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&apps->turn, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&apps->sleeping, __ATOMIC_SEQ_CST))
		wake_all(&apps->turn);
}

static void expect_due(struct app_links *apps, int64_t due)
{
	apps->next = (due > apps->last ? due : apps->last) + apps->gather;
}

void hand_out(struct app_links *apps, int64_t link, const uint8_t *frame, int64_t length, int64_t due)
{
	struct handed *slot = handed_at(apps, apps->given);

	if (apps->given - __atomic_load_n(&apps->delivered, __ATOMIC_ACQUIRE) == apps->handed_slots) {
		__atomic_fetch_add(&apps->refused, 1, __ATOMIC_RELAXED);
		return;
	}
	*slot = (struct handed){link, length, due, NULL};
	memcpy(slot->frame, frame, (size_t)length);
	if (apps->given++ == apps->told)
		expect_due(apps, due);
}

void tell_due(struct app_links *apps, const struct wall *wall)
{
	int64_t told = apps->told;

	if (apps->next > wall->reached)
		return;
	while (told < apps->given && handed_at(apps, told)->due <= wall->reached)
		told++;
	wake_delivery(apps, told);
	apps->last = wall->reached;
	apps->next = INT64_MAX;
	if (told < apps->given)
		expect_due(apps, handed_at(apps, told)->due);
}

void end_delivery(struct app_links *apps)
{
	__atomic_store_n(&apps->aside, 0, __ATOMIC_SEQ_CST);
	wake_delivery(apps, apps->given);
}
