/* SPDX-License-Identifier: Apache-2.0
 *
 * The links between apps and the world that their hosts are in: app_links.c, which owns their sockets.
 */
#ifndef TESTBED_APP_LINKS_H
#define TESTBED_APP_LINKS_H

#include <stddef.h>
#include <stdint.h>
#include "../../agent/histogram.h"
#include "world.h"

struct timespec;
struct iovec;
struct sent;

/* Mirrored in structs.py. */
struct app_link {
	int64_t host, socket;
	uint8_t *ring;
	int64_t next; /* its slot */
	int64_t taken; /* packets of what is in that slot */
	uint8_t *handed; /* a ring of what its host is to get */
	int64_t given, told, delivered; /* so far: in it, those of which the NIC told its host, with the host's kernel */
	int64_t interrupt, interrupted; /* the ticks of the NIC's next interrupt, and of its last one */
};

/* Mirrored in structs.py. */
struct app_links {
	struct app_link *links;
	int64_t count;
	int64_t *link_of; /* of a host, -1 for none */
	int64_t slots, slot_size; /* of the ring of each */
	struct pollfd *polled; /* their sockets, and room for one file more */
	int64_t handed_slots, handed_size; /* of each ring of what hosts are to get */
	int64_t moderation; /* ticks between two interrupts of a NIC, at least */
	int64_t next; /* the tick of the next interrupt */
	int64_t aside; /* whether there is one */
	uint32_t turn, sleeping; /* changes when it has to look; whether it waits for that */
	int64_t refused; /* packets that found no room at their host */
	struct histogram waiting, late; /* s that packets of apps lost from host to world, and from world to host */
};

/* The packet of that number of what a host sent so many ns ago. */
typedef int receive_fn(struct world *w, int64_t host, const struct sent *sent, int64_t number, int64_t ago);

int has_sent(const struct app_links *apps);
void take_sent(struct world *w, receive_fn *receive);
/* What the kernel must be told of so many packets, and their bytes. What finds no room is counted. */
void send_to_host(struct app_links *apps, const struct app_link *l, struct iovec *pieces, size_t count, int64_t packets);
void sleep_until_sent(struct app_links *apps, const struct timespec *longest);
void relay(struct world *w, int file);

#endif
