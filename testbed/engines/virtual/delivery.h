/* SPDX-License-Identifier: Apache-2.0
 *
 * What arrives at hosts with apps, on its way there: delivery.c, which owns what is handed out.
 */
#ifndef TESTBED_DELIVERY_H
#define TESTBED_DELIVERY_H

#include <stdint.h>

struct app_link;
struct app_links;
struct wall;

/* For the world. */
void hand_out(struct app_links *apps, struct app_link *l, const uint8_t *frame, int64_t length, int64_t due);
void interrupt_hosts(struct app_links *apps, const struct wall *wall); /* those whose NICs are to */
void end_delivery(struct app_links *apps); /* what is handed out is due */

/* For the thread: until the end. */
void deliver_aside(struct app_links *apps, const struct wall *wall);

#endif
