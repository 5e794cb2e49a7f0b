/* SPDX-License-Identifier: Apache-2.0
 *
 * Captures: copies of packets that pass a tap, which Python takes (taps.py).
 */
#ifndef TESTBED_CAPTURES_H
#define TESTBED_CAPTURES_H

#include "../../agent/memory.h"
#include "world.h"
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 1024 /* packets at a tap */

static void keep_copy(struct world *w, int64_t tap, const struct packet *p, int64_t time, int64_t arrived)
{
	struct tap *t = &w->taps[tap - 1];
	int64_t head[3] = {time, p->length, arrived};
	int64_t size = t->snap + (int64_t)sizeof(head);
	int64_t there = p->whole ? p->length : HEADERS; /* the rest is zeros */
	uint8_t *at;

	if (there > t->snap)
		there = t->snap;
	if (t->length == t->room) {
		t->room = 2 * t->room + FIRST_ROOM;
		t->bytes = needed(realloc(t->bytes, (size_t)(t->room * size)));
	}
	at = t->bytes + t->length++ * size;
	memcpy(at, head, sizeof(head));
	memcpy(at + sizeof(head), p->bytes, (size_t)there);
	memset(at + sizeof(head) + there, 0, (size_t)(t->snap - there));
}

#endif
