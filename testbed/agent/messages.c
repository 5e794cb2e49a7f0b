// SPDX-License-Identifier: Apache-2.0
#include "messages.h"

#include "datapath.h"
#include "memory.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_MESSAGES 16

/* Whether nothing of the flow comes behind packet `number`. */
static int ends_flow(const struct datapath *d, int64_t f, int64_t number)
{
	return number + 1 == d->flow[f].sent + d->flow[f].to_send - d->transport.pairs[f].lost;
}

static int64_t packets_of(const struct datapath *d, int64_t f)
{
	return d->messages.begun ? d->messages.begun[f].packets : 0;
}

static int ends_message(const struct datapath *d, int64_t f, int64_t number)
{
	int64_t packets = packets_of(d, f);

	return packets < 2 || (number + 1) % packets == 0 || ends_flow(d, f, number);
}

int opcode_of(const struct datapath *d, int64_t f, int64_t number)
{
	int64_t packets = packets_of(d, f);
	int begins = packets < 2 || number % packets == 0, write = d->messages.reth ? BTH_WRITE : 0;

	if (ends_message(d, f, number))
		return write + (begins ? BTH_SEND_ONLY_IMM : BTH_SEND_LAST_IMM);
	return write + (begins ? BTH_SEND_FIRST : BTH_SEND_MIDDLE);
}

/* Of the message that packet `number` begins: where its bytes are in those of the flow, and how many there are. Others leave it empty. */
void write_reth(const struct datapath *d, int64_t f, int64_t number, uint8_t *reth)
{
	const struct flow *flow = &d->flow[f];
	int64_t full = packets_of(d, f), size = full > 1 ? full : 1, left, packets;
	uint32_t part[] = {0, 0, htonl((uint32_t)(QP_BASE + d->first + f)), 0}; /* address, R_Key, length */
	uint64_t address = (uint64_t)(number * d->payload), length;

	memset(reth, 0, RETH_SIZE);
	if (number % size)
		return;
	left = flow->sent + flow->to_send - (numbered(d) ? d->transport.pairs[f].lost : 0) - number;
	packets = numbered(d) && left < size ? left : size;
	length = (uint64_t)(packets * d->payload);
	if (flow->short_size && flow->short_at >= number && flow->short_at < number + packets)
		length -= (uint64_t)(d->segment_size - flow->short_size);
	part[0] = htonl((uint32_t)(address >> 32));
	part[1] = htonl((uint32_t)address);
	part[3] = htonl((uint32_t)length);
	memcpy(reth, part, RETH_SIZE);
}

/*
 * What is sent again one by one asks: nothing behind it need come. A window, and what a receiver can keep, let nothing leave before something is acknowledged: a flow that has a window asks
 * with every packet, and others with at least two packets per bitmap.
 */
uint32_t asks_for_ack(const struct datapath *d, int64_t f, int64_t number)
{
	int64_t every = d->messages.every, most = d->transport.bitmap / 2;

	if (!isinf(d->flow[f].window) || ends_message(d, f, number))
		return 1;
	if (d->transport.recovery == SELECTIVE_REPEAT) {
		if (number < d->transport.pairs[f].highest)
			return 1;
		every = every && every < most ? every : most;
	}
	return every && (number + 1) % every == 0;
}

static void make_room_for(struct begun *b, int64_t oldest, int64_t message)
{
	int64_t room = b->room ? b->room : FIRST_MESSAGES;
	double *at;

	while (message - oldest >= room)
		room *= 2;
	if (room == b->room)
		return;
	at = needed(calloc((size_t)room, sizeof(*at)));
	for (int64_t m = oldest; m < message; m++)
		at[m & (room - 1)] = b->at[m & (b->room - 1)];
	free(b->at);
	b->at = at;
	b->room = room;
}

/* Packets leave: perhaps the first ones of messages. */
void messages_begin(struct datapath *d, int64_t f, int64_t number, int64_t packets, double now)
{
	int64_t size = packets_of(d, f);
	struct begun *b = &d->messages.begun[f];

	if (!size)
		return;
	for (; b->next * size < number + packets; b->next++) {
		make_room_for(b, d->flow[f].expected / size, b->next);
		b->at[b->next & (b->room - 1)] = now;
	}
}

/* Packets [from, to) are acknowledged: perhaps the last ones of messages. */
void messages_done(struct datapath *d, int64_t f, int64_t from, int64_t to, double now)
{
	int64_t size = packets_of(d, f);
	const struct begun *b = &d->messages.begun[f];

	for (int64_t m = size ? from / size : 0; size && m * size < to; m++) {
		if ((m + 1) * size <= to || ends_flow(d, f, to - 1))
			count(d->messages.times, now - b->at[m & (b->room - 1)]);
	}
}
