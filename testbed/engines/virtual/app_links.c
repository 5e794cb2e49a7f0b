// SPDX-License-Identifier: Apache-2.0
/*
 * The links of hosts with apps. Such a host has a veth in a namespace of its own, whose other end is ours: a packet socket.
 * What its apps send, the kernel writes into a ring that we share with it (packet(7), PACKET_RX_RING), with the time; the
 * world takes it in. What arrives at the host, a thread on another core sends to the veth: the kernel delivers at once what is
 * sent, and what one core delivers to another costs both an interrupt.
 */
#define _GNU_SOURCE
#include "app_links.h"
#include "world.h"

#include <linux/if_packet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define NS 1000000000ll
#define ETHERTYPE_AT 12 /* offsets in a frame */
#define FRAGMENT_AT 20
#define PROTOCOL_AT 23
#define ADDRESS_AT 32 /* of the last two bytes of the receiver's */
#define PORT_AT 36 /* of UDP, behind an IPv4 header without options */
#define ROCE 4791

#ifndef __linux__ /* in whole milliseconds */
#define ppoll(files, count, longest, signals) \
	poll(files, count, (int)((longest)->tv_sec * 1000 + (longest)->tv_nsec / 1000000))
#endif

/* A packet on its way to the host of a link. */
struct handed {
	int64_t link, length, due_ns;
	uint8_t frame[];
};

static int64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * NS + t.tv_nsec;
}

static uint32_t word(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

/* Its receiver, a host of this rack; -1 for what stays outside: what is not IPv4, and RoCE, which is the flows' alone. */
static int64_t receiver_of(const struct world *w, const uint8_t *frame, int64_t length)
{
	int64_t host;

	if (length < HEAD_BYTES - 8 || word(frame + ETHERTYPE_AT) != 0x0800)
		return -1;
	if (frame[PROTOCOL_AT] == 17 && !(word(frame + FRAGMENT_AT) & 0x1fff) && length >= HEAD_BYTES &&
	    word(frame + PORT_AT) == ROCE)
		return -1;
	host = (int64_t)word(frame + ADDRESS_AT) - 1;
	return host < w->host_count ? host : -1;
}

static struct tpacket2_hdr *next_frame(const struct app_links *apps, const struct app_link *l)
{
	struct tpacket2_hdr *frame = (void *)(l->ring + l->next * apps->slot_size);

	return __atomic_load_n(&frame->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER ? frame : NULL;
}

static void give_slot_back(const struct app_links *apps, struct app_link *l, struct tpacket2_hdr *frame)
{
	__atomic_store_n(&frame->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
	l->next = (l->next + 1) % apps->slots;
}

static void refuse(struct app_links *apps)
{
	__atomic_fetch_add(&apps->refused, 1, __ATOMIC_RELAXED);
}

static void deliver(struct app_links *apps, const struct app_link *l, const uint8_t *frame, int64_t length)
{
	if (send((int)l->socket, frame, (size_t)length, MSG_DONTWAIT) < 0)
		refuse(apps);
}

static struct handed *handed_at(const struct app_links *apps, int64_t number)
{
	return (void *)(apps->handed + number % apps->slots * apps->slot_size);
}

void hand_out(struct app_links *apps, int64_t link, const uint8_t *frame, int64_t length, int64_t due_ns)
{
	struct handed *slot = handed_at(apps, apps->given);

	if (apps->given - __atomic_load_n(&apps->delivered, __ATOMIC_ACQUIRE) == apps->slots) {
		refuse(apps);
		return;
	}
	*slot = (struct handed){link, length, due_ns};
	memcpy(slot->frame, frame, (size_t)length);
	__atomic_store_n(&apps->given, apps->given + 1, __ATOMIC_RELEASE);
}

/* All that is due then (ns). Returns when the next one is; a nap later, if none is known. */
static int64_t deliver_due(struct app_links *apps, int64_t now_ns)
{
	while (apps->delivered < __atomic_load_n(&apps->given, __ATOMIC_ACQUIRE)) {
		const struct handed *slot = handed_at(apps, apps->delivered);

		if (slot->due_ns > now_ns)
			return slot->due_ns < now_ns + apps->nap_ns ? slot->due_ns : now_ns + apps->nap_ns;
		deliver(apps, &apps->links[slot->link], slot->frame, slot->length);
		count(&apps->late, (double)(read_clock(CLOCK_MONOTONIC) - slot->due_ns) * apps->seconds_per_ns);
		__atomic_store_n(&apps->delivered, apps->delivered + 1, __ATOMIC_RELEASE);
	}
	return now_ns + apps->nap_ns;
}

/* To be woken when there is something would cost the world an interrupt. */
void deliver_aside(struct app_links *apps)
{
	while (__atomic_load_n(&apps->aside, __ATOMIC_ACQUIRE)) {
		int64_t next = deliver_due(apps, read_clock(CLOCK_MONOTONIC));
		struct timespec t = {next / NS, next % NS};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
	deliver_due(apps, INT64_MAX - apps->nap_ns);
}

/* Whether an app has sent something. */
int has_sent(const struct app_links *apps)
{
	for (const struct app_link *l = apps->links; l < apps->links + apps->count; l++) {
		if (next_frame(apps, l))
			return 1;
	}
	return 0;
}

/* All that apps have sent to hosts of this rack, and that was not taken before. `receive` says whether it is time for it. */
void take_sent(struct world *w, receive_fn *receive)
{
	struct app_links *apps = w->apps;
	struct tpacket2_hdr *frame;

	for (struct app_link *l = apps->links; l < apps->links + apps->count; l++) {
		while ((frame = next_frame(apps, l))) {
			const uint8_t *bytes = (const uint8_t *)frame + frame->tp_mac;
			int64_t waited = read_clock(CLOCK_REALTIME) - (frame->tp_sec * NS + frame->tp_nsec);

			if (receiver_of(w, bytes, frame->tp_snaplen) >= 0 &&
			    !receive(w, l->host, bytes, frame->tp_snaplen, waited))
				break;
			give_slot_back(apps, l, frame);
		}
	}
}

/* Sleep, but not when a packet is there. */
void sleep_until_sent(struct app_links *apps, const struct timespec *longest)
{
	ppoll(apps->polled, (nfds_t)apps->count, longest, NULL);
}

/* Before and after the run: apps talk to each other without the rack, until `file` can be read, or for 1 s. */
void relay(struct world *w, int file)
{
	struct app_links *apps = w->apps;
	int64_t end = read_clock(CLOCK_REALTIME) + NS;

	apps->polled[apps->count] = (struct pollfd){file, POLLIN, 0};
	do {
		struct timespec longest = {0, NS / 10};
		struct tpacket2_hdr *frame;

		for (struct app_link *l = apps->links; l < apps->links + apps->count; l++) {
			while ((frame = next_frame(apps, l))) {
				uint8_t *bytes = (uint8_t *)frame + frame->tp_mac;
				int64_t host = receiver_of(w, bytes, frame->tp_snaplen);

				if (host >= 0 && apps->link_of[host] >= 0) {
					memcpy(bytes, w->lines[w->down[host]].macs, 12);
					deliver(apps, &apps->links[apps->link_of[host]], bytes, frame->tp_snaplen);
				}
				give_slot_back(apps, l, frame);
			}
		}
		ppoll(apps->polled, (nfds_t)apps->count + 1, &longest, NULL);
	} while (!apps->polled[apps->count].revents && read_clock(CLOCK_REALTIME) < end);
}
