/* SPDX-License-Identifier: Apache-2.0
 *
 * The programs' ring buffers: feedback, which agents read as in the kernel, and pauses, which are acted on at once.
 */
#ifndef TESTBED_RECORDS_H
#define TESTBED_RECORDS_H

#include "lines.h"
#include "pause.h"

#define FIRST_RECORD 200 /* any place but 0, where nothing was ever taken */

static __thread struct pause_event pause_slot; /* that a program is writing */

void *records_reserve(struct records *to, uint64_t size)
{
	uint64_t at;

	if (!to)
		return &pause_slot;
	to = world->feedback; /* each part's own */
	if (*to->consumer == *to->producer) /* nothing waits: stay where the caches are */
		*to->consumer = *to->producer = FIRST_RECORD;
	at = *to->producer;
	if (at + 8 + size - *to->consumer > (uint64_t)to->size)
		return NULL;
	*(uint32_t *)(to->data + (at & (uint64_t)(to->size - 1))) = (uint32_t)size;
	return to->data + (at & (uint64_t)(to->size - 1)) + 8;
}

void records_submit(void *record)
{
	struct records *to = world->feedback;

	if (record == &pause_slot) {
		if (pause_slot.what == PAUSE_RECEIVED)
			go_on(world, &world->lines[world->out[pause_slot.port]], world->now);
		else
			send_pause(world, pause_slot.port, pause_slot.quanta);
		return;
	}
	*to->producer += 8 + sizeof(struct record);
	to->submitted++;
}

#endif
