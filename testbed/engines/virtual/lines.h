/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines serialise and delay packets.
 *
 * A line is a FIFO, so that the heap holds one arrival per busy line. Without priority flow control nothing stops a
 * packet once it was sent: when it begins, ends and arrives is known at once. With it packets wait for their line, which
 * may be paused. So they do with Bolt, where answers overtake data, and at ports with several queues. A second event says
 * when the line is free only if what leaves changes something elsewhere (is_awaited). Else a line catches up when somebody
 * looks: a packet that joins it, one that comes out of it, a sample.
 */
#ifndef TESTBED_LINES_H
#define TESTBED_LINES_H

#include "captures.h"
#include "crossing.h"
#include "occasions.h"
#include "packets.h"
#if CLASSES
#include "scheduler.h"
#include "watchdog.h"
#endif

static void catch_up(struct world *w, struct line *l, int64_t before);

#ifdef BOLT
#define ANSWERS_FIRST 1
#else
#define ANSWERS_FIRST 0
#endif

static void begin(struct world *w, struct line *l, struct packet *p, int64_t start)
{
	if (l->sender < 0) {
		struct __sk_buff skb = view_of(p, l->from);

		stamp = (uint64_t)start;
		p->lost = nic_tx(&skb) == TC_ACT_SHOT;
		stamp = (uint64_t)w->now;
#if MANY_PATHS
		p->hash = skb.hash;
		draw_way(w, p);
#endif
	}
	l->free = start + ((p->length * l->per_byte + (1 << (TICK_SHIFT - 1))) >> TICK_SHIFT);
	p->arrives = l->free + l->delay;
	if (l->tapped[0])
		keep_copy(w, l->tapped[0], p, start, 0);
	send_out(w, l, p);
}

/* Whether a port, or one of its priorities, is paused now, and until when. */
static int is_paused(const struct world *w, int64_t row, int64_t *until)
{
	const struct pause *pause = (const struct pause *)w->pauses + row;

	for (int i = 0; i < 2; i++) {
		if ((int64_t)pause->span[i].from <= w->now && w->now < (int64_t)pause->span[i].until) {
			*until = (int64_t)pause->span[i].until;
			return 1;
		}
	}
	return 0;
}

/* A pause frame goes first; it counts from its arrival. */
static struct packet *next_pause(struct world *w, struct line *l)
{
	struct pfc_frame *frame = (struct pfc_frame *)l->pauses.first->bytes;
	int64_t time = (l->pauses.first->length * l->per_byte) >> TICK_SHIFT;

	frame->ns = bpf_cpu_to_be64((uint64_t)(w->now + time + l->delay));
	l->leaving = NULL; /* it was in no queue */
	return take(&l->pauses);
}

#if CLASSES

/* A host's line has them, too, where its priorities are paused. */
static int has_queues(const struct world *w, const struct line *l)
{
	return l->sender >= 0 || ((const struct class_table *)w->class_table)->lossless;
}

static struct departures *left_queue(const struct world *w, const struct line *l, uint32_t queue)
{
	return (struct departures *)w->departures + row_of(w->class_table, (uint32_t)l->to, queue);
}

/* What waits in a port's queue, with what is leaving it. */
static uint32_t length_of(const struct world *w, const struct line *l, uint32_t queue)
{
	uint32_t row = row_of(w->class_table, (uint32_t)l->from, queue);

	return backlog((const struct port_counters *)w->port_counters + row, left_queue(w, l, queue));
}

/* Bits of the queues that pauses hold, of which the first ends at `until`. */
static int64_t held_queues(const struct world *w, const struct line *l, int64_t *until)
{
	const struct class_table *classes = w->class_table;
	int64_t held = 0, end;

	*until = INT64_MAX;
	for (uint32_t rest = classes->lossless; rest; rest &= rest - 1) {
		uint32_t priority = (uint32_t)__builtin_ctz(rest);

		if (!is_paused(w, row_of(classes, (uint32_t)l->from, priority), &end))
			continue;
		held |= classes->paused_by[priority];
		*until = end < *until ? end : *until;
	}
	return held;
}

/* Others must know at once what leaves: it gives back memory, for which somebody is paused; or it arrives in another part. */
static int is_awaited(const struct world *w, const struct line *l)
{
	const struct class_table *classes = w->class_table;

	return classes->shared || classes->lossless || l->beyond;
}

/* A port with several queues is free, and has been since `now`: what comes next. */
static void serve(struct world *w, struct line *l, int64_t now)
{
	const struct class_table *classes = w->class_table;
	struct queues *q = &w->queues[l - w->lines];
	int64_t id = l - w->lines, until = 0;
	struct packet *next;

	if (l->busy)
		return;
	if (l->pauses.first) {
		next = next_pause(w, l);
	} else {
		int64_t held = classes->lossless ? held_queues(w, l, &until) : 0;

		if (w->watchdog && l->sender >= 0) {
			held &= ~defiant_queues(w, l);
			watch(w, l, held & q->waits);
		}
		next = l->leaving = next_packet(q, w->scheduler, ~held);
		if (!next) {
			if (q->waits)
				set_event(w, id, until);
			return;
		}
		if (classes->at_dequeue && l->sender >= 0) {
			struct __sk_buff skb = view_of(next, l->from);
			const struct ip_place ip = find_ip(&skb);
			uint32_t behind = length_of(w, l, next->queue) - next->length;

			leave_queue(&skb, &ip, (uint32_t)l->from, next->queue, behind);
		}
	}
	l->busy = 1;
	begin(w, l, next, now);
	if (is_awaited(w, l))
		set_event(w, id, l->free);
}

static void watchdog_looks(struct world *w, struct line *l)
{
	int64_t until;

	look_at_queues(w, l, held_queues(w, l, &until));
	serve(w, l, w->now);
}

/* The last bit of a packet has left a port. */
static void leave_port(struct world *w, struct line *l, struct packet *p, int64_t now)
{
	const struct size size = {1, p->length};

	if (((const struct class_table *)w->class_table)->shared)
		give_back_memory(w, l, p);
	count_departure(left_queue(w, l, p->queue), &size, (uint64_t)now);
	count_departure((struct departures *)w->departures + l->to, &size, (uint64_t)now);
}

/* Packets wait for the line, and none is on it that would look: an event must. */
static void stay_awake(struct world *w, struct line *l)
{
	if (l->busy && !is_awaited(w, l) && !l->on_the_way && w->queues[l - w->lines].waits)
		set_event(w, l - w->lines, l->free);
}

#else

/* Only now is the packet out of its switch. */
static void leave_port(struct world *w, struct line *l, struct packet *p, int64_t now)
{
	struct roce *packet = (struct roce *)p->bytes;

	(void)now;
	((uint64_t *)w->departed)[l->from] += p->length;
	if (w->lossless && p->data) {
		leave_switch(bpf_ntohs(packet->shim.ingress), p->length, nic_constants.xon);
		packet->shim.ingress = 0; /* nic_rx and port_ingress, where it comes out, are too late */
	}
}

static void stay_awake(struct world *w, struct line *l)
{
	(void)w, (void)l;
}

/* More waits; or what leaves is looked at in good time: somebody is paused for it, or it will be another part's. */
static int is_awaited(const struct world *w, const struct line *l)
{
	const struct packet *p = l->leaving;

	return l->waiting[0].first || l->waiting[1].first || l->pauses.first || l->beyond ||
	       (w->lossless && l->sender >= 0 && p && p->data);
}

#endif

/* Where packets wait: what comes next on a line that is free, and has been since `now`. */
static void go_on(struct world *w, struct line *l, int64_t now)
{
	struct packet *data = l->waiting[1].first, *other = l->waiting[0].first, *next;
	int64_t id = l - w->lines, until = 0;

#if CLASSES
	if (has_queues(w, l)) {
		serve(w, l, now);
		return;
	}
#endif
	catch_up(w, l, now);
	if (l->busy) {
		if (w->place[id] < 0)
			set_event(w, id, l->free);
		return;
	}
	if (l->pauses.first) {
		next = next_pause(w, l);
	} else {
		if (data && is_paused(w, l->from, &until))
			data = NULL;
		if (!data && !other) {
			if (until)
				set_event(w, id, until);
			return;
		}
		next = l->leaving = take(&l->waiting[!other || (data && !ANSWERS_FIRST && data->order < other->order)]);
	}
	l->busy = 1;
	begin(w, l, next, now);
	if (is_awaited(w, l) || w->place[id] >= 0)
		set_event(w, id, l->free);
}

/* The last bit of what was leaving has left, if something was. */
static void has_left(struct world *w, struct line *l, int64_t now)
{
	struct packet *p = l->leaving;

	l->leaving = NULL;
	if (p && l->sender >= 0)
		leave_port(w, l, p, now);
}

static void line_is_free(struct world *w, struct line *l, int64_t now)
{
	has_left(w, l, now);
	l->busy = 0;
	go_on(w, l, now);
}

/* What a line has done before then, which nobody has looked at: nothing but its queues has a say in it. */
static void catch_up(struct world *w, struct line *l, int64_t before)
{
	while (l->busy && l->free < before)
		line_is_free(w, l, l->free);
}

void catch_up_all(struct world *w, int64_t before)
{
	for (struct line *l = w->lines; (CLASSES || w->queued) && l < w->lines + w->line_count; l++)
		catch_up(w, l, before);
}

/* The packet comes out. Its sender is this part's. */
static void look_at_sender(struct world *w, struct line *l, const struct packet *p)
{
	catch_up(w, l, w->now);
	if (l->leaving == p)            /* without delay it leaves as it arrives, */
		has_left(w, l, w->now); /* and what arrives changes */
}

/* It could have left then, if nothing waits for the line. */
static void send_since(struct world *w, struct line *l, struct packet *p, int64_t then)
{
	p->order = w->order++;
#if CLASSES
	if (has_queues(w, l)) {
		if (l->sender < 0)
			p->queue = ((const struct class_table *)w->class_table)->queue_of[((struct roce *)p->bytes)->tos >> 2];
		join_queue(&w->queues[l - w->lines], p->queue, p);
		serve(w, l, w->now);
		stay_awake(w, l);
		return;
	}
#endif
	if (w->queued) {
		catch_up(w, l, w->now);
		append(&l->waiting[p->data], p);
		go_on(w, l, w->now);
	} else {
		begin(w, l, p, then > l->free ? then : l->free);
	}
}

static void send_on(struct world *w, struct line *l, struct packet *p)
{
	send_since(w, l, p, w->now);
}

/* A host's agent or its NIC sends. */
void send_up(struct world *w, int64_t host, struct packet *p)
{
	send_on(w, &w->lines[w->up[host]], p);
}

long send_copy(struct __sk_buff *skb, __u32 ifindex)
{
	struct packet *copy = new_packet();

	memcpy(copy->bytes, current->bytes, HEADERS);
	copy->length = skb->len;
	copy->data = 0;
	send_on(world, &world->lines[world->out[ifindex]], copy);
	return 0;
}

#endif
