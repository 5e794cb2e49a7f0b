// SPDX-License-Identifier: Apache-2.0
/*
 * What ties an agent to a world: the clock, and handing over packets. testbed/agent/machine.c is the same for a real machine.
 */
#include "host.h"
#include "../../agent/datapath.h"
#include "../../agent/heads.h"
#include "../../agent/machine.h"
#include "offload.h"
#include "world.h"

#include <arpa/inet.h>
#include <string.h>

#define UDP_HEADER 8
#define UDP_LENGTH_AT 38 /* in a frame */

double now_seconds(const struct datapath *d)
{
	return nominal(d, (uint64_t)world->now);
}

/* The first tick that is not before then. */
int64_t tick_of(const struct datapath *d, double time)
{
	int64_t tick;

	if (time >= 1e6)
		return INT64_MAX;
	tick = d->epoch_ns + (int64_t)(time / d->seconds_per_ns); /* one too early, most often; see world.py */
	while (nominal(d, (uint64_t)tick) < time)
		tick++;
	return tick;
}

static void set_length(uint8_t *frame, uint16_t size)
{
	uint16_t udp = htons((uint16_t)(size + UDP_HEADER));

	memcpy(frame + UDP_LENGTH_AT, &udp, 2);
	set_ip_length(frame, size + HEAD_BYTES);
}

/* The host's line takes everything. */
int64_t transmit(struct datapath *d, const struct batch *batch)
{
	const struct world *w = world;
	int64_t socket = d->flow[batch->segments[0].flow].fd, host = w->socket_host[socket];
	const uint8_t *head = w->heads + socket * HEAD_BYTES, *carried = d->packet + HEAD;

	for (int64_t i = 0; i < batch->length; i++) {
		const struct segment *s = &batch->segments[i];

		for (int64_t k = 0; k < s->packets; k++) {
			struct packet *p = new_packet();
			int64_t size;

			memcpy(p->bytes, head, HEAD_BYTES);
			if (w->carried)
				memcpy(p->bytes + HEAD_BYTES + HEAD, carried, (size_t)w->carried);
			size = write_head(d, s->flow, s->number + k, p->bytes + HEAD_BYTES);
			if (size != d->segment_size)
				set_length(p->bytes, (uint16_t)size);
			p->length = (uint32_t)(HEAD_BYTES + size);
			p->data = 1;
			send_up(world, host, p);
		}
	}
	return batch->packets;
}

/* A receiver's credit: its NIC sends it as it sends answers. */
void send_credit(struct datapath *d, int64_t f, int64_t granted)
{
	struct packet *p = new_packet();

	memcpy(p->bytes, world->credit_heads + f * HEAD_BYTES, HEAD_BYTES);
	write_credit(d, f, granted, p->bytes + HEAD_BYTES);
	p->length = CREDIT_SIZE;
	p->data = 0;
	send_up(world, world->receiver[f], p);
}
