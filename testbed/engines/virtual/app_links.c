// SPDX-License-Identifier: Apache-2.0
/*
 * The links of hosts with apps. Such a host has a veth in a namespace of its own, whose other end is ours: a packet socket.
 * What its apps send, the kernel writes into a ring that we share with it (packet(7), PACKET_RX_RING), with the time; the
 * world takes it in. What arrives at the host is sent to the veth (delivery.c).
 */
#define _GNU_SOURCE
#include "app_links.h"
#include "offload.h"
#include "world.h"

#include <linux/if_packet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
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

static int64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * NS + t.tv_nsec;
}

/* Its receiver, a host of this rack; -1 for what stays outside: what is not IPv4, and RoCE, which is the flows' alone. */
static int64_t receiver_of(const struct world *w, const uint8_t *frame, int64_t length)
{
	int64_t host;

	if (length < HEAD_BYTES - 8 || two_bytes(frame + ETHERTYPE_AT) != 0x0800)
		return -1;
	if (frame[PROTOCOL_AT] == 17 && !(two_bytes(frame + FRAGMENT_AT) & 0x1fff) && length >= HEAD_BYTES &&
	    two_bytes(frame + PORT_AT) == ROCE)
		return -1;
	host = (int64_t)two_bytes(frame + ADDRESS_AT) - 1;
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

/* What is in a slot of the ring: the kernel writes what it asks of the NIC before it. */
static struct sent sent_in(const struct tpacket2_hdr *slot)
{
	const uint8_t *frame = (const uint8_t *)slot + slot->tp_mac;

	return (struct sent){(const void *)(frame - sizeof(struct virtio_net_hdr)), frame, slot->tp_snaplen};
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
	struct tpacket2_hdr *slot;

	for (struct app_link *l = apps->links; l < apps->links + apps->count; l++) {
		while ((slot = next_frame(apps, l))) {
			struct sent sent = sent_in(slot);
			int64_t ago = read_clock(CLOCK_REALTIME) - (slot->tp_sec * NS + slot->tp_nsec);
			int64_t packets = receiver_of(w, sent.frame, sent.length) < 0 ? 0 : segments_of(&sent);

			while (l->taken < packets && receive(w, l->host, &sent, l->taken, ago))
				l->taken++;
			if (l->taken < packets)
				break;
			l->taken = 0;
			give_slot_back(apps, l, slot);
		}
	}
}

void send_to_host(struct app_links *apps, const struct app_link *l, struct iovec *pieces, size_t count, int64_t packets)
{
	struct msghdr message = {.msg_iov = pieces, .msg_iovlen = count};

	if (sendmsg((int)l->socket, &message, MSG_DONTWAIT) < 0)
		__atomic_fetch_add(&apps->refused, packets, __ATOMIC_RELAXED);
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
		struct tpacket2_hdr *slot;

		for (struct app_link *l = apps->links; l < apps->links + apps->count; l++) {
			while ((slot = next_frame(apps, l))) {
				struct sent sent = sent_in(slot);
				int64_t host = receiver_of(w, sent.frame, sent.length);

				if (host >= 0 && apps->link_of[host] >= 0) {
					struct iovec pieces[] = {
						{(void *)sent.asked, sizeof(*sent.asked)}, {w->lines[w->down[host]].macs, 12},
						{(void *)(sent.frame + 12), (size_t)sent.length - 12},
					};

					send_to_host(apps, &apps->links[apps->link_of[host]], pieces, 3, 1);
				}
				give_slot_back(apps, l, slot);
			}
		}
		ppoll(apps->polled, (nfds_t)apps->count + 1, &longest, NULL);
	} while (!apps->polled[apps->count].revents && read_clock(CLOCK_REALTIME) < end);
}
