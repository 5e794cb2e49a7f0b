/* SPDX-License-Identifier: Apache-2.0
 *
 * The links between apps and the world that their hosts are in: app_links.c, which owns their sockets.
 */
#ifndef TESTBED_APP_LINKS_H
#define TESTBED_APP_LINKS_H

#include <stdint.h>
#include "../../agent/histogram.h"
#include "world.h"

struct timespec;

/* Mirrored in structs.py. */
struct app_link {
	int64_t host, socket;
	uint8_t *ring;
	int64_t next; /* its slot */
};

/* Mirrored in structs.py. */
struct app_links {
	struct app_link *links;
	int64_t count;
	int64_t *link_of; /* of a host, -1 for none */
	int64_t slots, slot_size;
	struct pollfd *polled; /* their sockets, and room for one file more */
	uint8_t *handed; /* a ring of as many slots, of what is to be delivered */
	int64_t given, delivered; /* so far */
	int64_t aside; /* whether a thread delivers them */
	int64_t nap_ns; /* of that thread */
	double seconds_per_ns;
	int64_t refused; /* packets that found no room at their host */
	struct histogram waiting, late; /* s that packets of apps lost from host to world, and from world to host */
};

/* A frame that a host sent so many ns ago. */
typedef int receive_fn(struct world *w, int64_t host, const uint8_t *bytes, int64_t length, int64_t ago);

int has_sent(const struct app_links *apps);
void take_sent(struct world *w, receive_fn *receive);
void hand_out(struct app_links *apps, int64_t link, const uint8_t *frame, int64_t length, int64_t due_ns);
void deliver_aside(struct app_links *apps); /* what is handed out, when it is due, for as long as `aside` says so */
void sleep_until_sent(struct app_links *apps, const struct timespec *longest);
void relay(struct world *w, int file);

#endif
