// SPDX-License-Identifier: Apache-2.0
/*
 * The event loop: lines serialise and delay packets; NICs and switches are the rack's own programs, compiled natively.
 * Its parts are headers, so that all of this is one translation unit, where calls per packet cost nothing.
 *
 *     what happens next         calendar.h, occasions.h
 *     lines, and packets        lines.h, packets.h
 *     hosts and switches        nodes.h, forwarding.h, ecmp.h
 *     PFC's pause frames        pause.h
 *     what programs write to    records.h (rings), table.h (the monitor's flows)
 *     series and captures       sampler.h, captures.h
 *     parts of a large rack     parts.c, crossing.h, barrier.c
 *     caches                    prefetch.h
 *     wall time                 wall.c
 *     packets of apps           app_links.c, delivery.c, offload.c
 *     its agent                 notices.c (what it is told), host.c, sleep.c
 */
#include "world.h"
#include "app_links.h"
#include "delivery.h"
#include "offload.h"
#include "wall.h"

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of this file alone, so that what every packet passes becomes part of the loop. */
static int nic_tx(struct __sk_buff *skb), nic_rx(struct __sk_buff *skb);
static int port_egress(struct __sk_buff *skb), port_ingress(struct __sk_buff *skb);

#pragma GCC visibility push(hidden) /* their maps and constants are found without a table; libraries are included above */
#define VIRTUAL
#define settings nic_constants
#define LICENSE nic_license
#include "../../dataplane/nic.bpf.c"
#undef settings
#undef LICENSE
#define settings port_constants
#define LICENSE port_license
#include "../../dataplane/port.bpf.c"
#undef settings
#undef LICENSE
#pragma GCC visibility pop

#include "nodes.h"
#include "prefetch.h"
#include "rates.h"
#include "records.h"
#include "sampler.h"
#include "table.h"

__thread struct world *world;
__thread uint64_t stamp;
__thread int exceeds_caches;

static struct ring feedback_ring; /* as the programs know it */

static void set_time(struct world *w, int64_t time)
{
	if (w->next_sample < time) /* what happened at its tick belongs to a sample */
		take_samples(w, time);
	w->now = time;
	stamp = (uint64_t)time;
}

static void arrives(struct world *w, struct line *l, struct packet *p)
{
	if ((CLASSES || w->queued) && !l->beyond)
		look_at_sender(w, l, p);
	if (CLASSES && !l->beyond && !--l->on_the_way)
		stay_awake(w, l);
	if (l->tapped[1])
		keep_copy(w, l->tapped[1], p, w->now, 1);
	if (l->receiver < 0)
		at_host(w, l, p);
	else
		at_switch(w, l, p);
}

static void takes_place(struct world *w, int64_t id)
{
	struct line *l = &w->lines[id % w->line_count];

	w->place[id] = -1;
	top_is_free = 1;
	if (id < w->line_count) {
		line_is_free(w, l, w->now);
	} else if (id < 2 * w->line_count) {
		renew_pause(w, l);
	} else {
#if CLASSES
		watchdog_looks(w, l);
#endif
	}
	if (top_is_free && --w->event_count)
		settle(w, TOP, w->events[end_of_heap(w)]);
	top_is_free = 0;
}

/* The tick of what happens next, if it is not after then. */
static int64_t next_tick(struct world *w, int64_t until)
{
	int64_t arrival = next_arrival(w->calendar, until);

	return w->event_count && w->events[TOP].time < arrival ? w->events[TOP].time : arrival;
}

static void happen(struct world *w, int64_t tick)
{
	struct arrivals_list *open = &w->calendar->open;
	struct arrival a;

	set_time(w, tick);
	w->events_done++;
	if (open->first == open->end || open->of[open->first].time != tick) {
		takes_place(w, w->events[TOP].id);
		return;
	}
	a = open->of[open->first++];
	if (exceeds_caches)
		look_ahead(w);
	arrives(w, &w->lines[a.line], a.packet);
}

/* Until nothing is on its way any more, or until then: that tick included. No agent is there. */
void drain(struct world *w, int64_t until)
{
	for (int64_t tick; (tick = next_tick(w, until)) <= until && tick < NEVER;) {
		happen(w, tick);
		w->resumed_count = 0;
	}
}

static void give_back(struct fifo *q)
{
	while (q->first)
		drop(take(q));
}

/* The world is given up: others may have its packets. */
void abandon(struct world *w)
{
	struct arrivals_list all = take_all(w->calendar);

	for (const struct arrival *a = all.of + all.first; a < all.of + all.end; a++)
		drop(a->packet);
	free(all.of);
	for (struct line *l = w->lines; l < w->lines + w->line_count; l++) {
		give_back(&l->waiting[0]);
		give_back(&l->waiting[1]);
		give_back(&l->pauses);
#if CLASSES
		for (int64_t queue = 0; queue < QUEUES; queue++)
			give_back(&w->queues[l - w->lines].waiting[queue]);
#endif
	}
}

/*
 * A world that is late catches up in no time, and a packet that came in before its own time would be too fast by that. One that
 * is ahead, or did not look for a while, makes up for it on the packet's first link: it is there as if it had come at once,
 * unless that is longer ago than the link's delay.
 */
static int enter_world(struct world *w, int64_t host, const struct sent *data, int64_t number, int64_t ago)
{
	struct line *l = &w->lines[w->up[host]];
	int64_t sent = tick_of_wall(w->wall, ago), begins = w->now - (w->lossless || w->queued ? 0 : l->delay);
	struct packet *p;

	if (sent > w->now)
		return 0;
	p = new_whole_packet(w);
	p->length = (uint32_t)write_packet(data, number, p->bytes);
	begins = sent > begins ? sent : begins;
	count(&w->apps->waiting, (double)(begins - sent) * w->wall->seconds_per_tick);
	send_since(w, l, p, begins);
	return 1;
}

/* What apps have sent, and what they get, before what happens next, at the tick `next`. */
static void meet_apps(struct world *w, int64_t next)
{
	if (w->now < w->wall->reached && w->wall->reached < next)
		set_time(w, w->wall->reached);
	take_sent(w, enter_world);
	interrupt_hosts(w->apps, w->wall);
}

/* Whether all is done until then: apps may have sent something. */
static int passes(struct world *w, int64_t until)
{
	if (!w->wall || w->now >= until || wait_for(w, until))
		return 1;
	meet_apps(w, until);
	return 0;
}

/* Everything until then, that tick included; or until the end of a tick at which an agent must know of something: feedback,
 * a pause, flows that others have released. Whether so. Not before that end: what else the tick has to do with other hosts. */
int64_t run_until_fed(struct world *w, int64_t until)
{
	do {
		for (int64_t tick; (tick = next_tick(w, until)) <= until && tick < NEVER;) {
			if (w->wall && !keep_pace(w, tick)) {
				meet_apps(w, tick);
				continue;
			}
			happen(w, tick);
			if ((w->feedback->submitted || w->resumed_count || w->released) && next_tick(w, tick) != tick)
				return 1;
		}
	} while (!passes(w, until));
	if (w->now < until)
		set_time(w, until);
	return 0;
}

/* As libbpf fills what programs read as constants, before they run. */
static void fill(const volatile void *constants, const void *value, int64_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)constants & ~(page - 1);

	mprotect((void *)from, (uintptr_t)constants + (uintptr_t)size - from, PROT_READ | PROT_WRITE);
	for (int64_t i = 0; i < size; i++)
		((volatile uint8_t *)constants)[i] = ((const uint8_t *)value)[i];
}

/* From now on the programs work in this world. */
void enter(struct world *w, const void *nic, int64_t nic_size, const void *port, int64_t port_size)
{
	world = w;
	exceeds_caches = 0; /* until its agent says so */
	stamp = (uint64_t)w->now;
	fill(&nic_constants, nic, nic_size);
	fill(&port_constants, port, port_size);
	arrivals.value = w->arrivals;
	flows_tx.value = w->flows_tx;
	flows_rx.value = w->flows_rx;
	receivers.value = w->receivers;
	ingresses.value = w->ingresses;
	pauses.value = w->pauses;
	port_config.value = w->port_config;
	port_counters.value = w->port_counters;
	port_red.value = w->port_red;
	port_queue.value = w->port_queue;
#if !CLASSES
	departed.value = w->departed;
#endif
#if MANY_PATHS
	flowlets.value = w->flowlets;
#endif
#if CLASSES
	class_table.value = w->class_table;
	shares.value = w->shares;
	groups.value = w->groups;
	pools.value = w->pools;
	intakes.value = w->intakes;
	departures.value = w->departures;
#endif
#ifdef BOLT
	port_bolt.value = w->port_bolt;
#endif
	feedback_ring.max_entries = (void *)w->feedback;
	rings.value = &feedback_ring;
	table = w->flow_table;
}
