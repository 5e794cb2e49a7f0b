// SPDX-License-Identifier: Apache-2.0
/* What a packet says of itself: all that differs between packets of an agent. */
#include "heads.h"
#include "credits.h"
#include "datapath.h"
#include "messages.h"
#include "paths.h"

#include <arpa/inet.h>
#include <string.h>

/* What Bolt's switches are to know of packet `number` of a flow. */
static uint8_t bolt_flags(const struct datapath *d, int64_t f, int64_t number)
{
	double left = (double)(d->flow[f].sent + d->flow[f].to_send - number); /* packets, with this one */
	uint8_t flags = SHIM_SRC;

	if (!d->flow[f].acked)
		flags |= SHIM_FIRST;
	if (left * (double)d->wire_size <= d->flow[f].window)
		flags |= SHIM_LAST;
	return flags == SHIM_SRC ? flags | SHIM_INC : flags;
}

/* Of a packet whose number names its data. */
static APART void give_number(struct datapath *d, int64_t f, int64_t number, uint8_t *head)
{
	struct queue_pair *q = &d->transport.pairs[f];
	uint32_t asks = asks_for_ack(d, f, number), psn = htonl(asks << 31 | ((uint32_t)number & 0xffffff));

	memcpy(head + offsetof(struct roce, psn) - CARRIED, &psn, sizeof(psn));
	head[offsetof(struct roce, opcode) - CARRIED] = (uint8_t)opcode_of(d, f, number);
	if (number < q->highest)
		head[offsetof(struct roce, shim.flags) - CARRIED] |= SHIM_AGAIN;
	else
		q->highest = number + 1;
}

/* A number that names data does not say how many packets have left: where receivers grant them, the head does besides. */
static APART void say_what_left(const struct datapath *d, int64_t f, uint8_t *head)
{
	uint16_t left = htons((uint16_t)(d->flow[f].sent + d->flow[f].again));

	memcpy(head + offsetof(struct roce, shim.frame) - CARRIED, &left, sizeof(left));
}

/* A packet that is not full. Returns its bytes. */
static int64_t shorten(const struct datapath *d, int64_t f, uint8_t *head)
{
	int64_t size = d->flow[f].short_size;
	struct shim shim;

	memcpy(&shim, head + offsetof(struct roce, shim) - CARRIED, sizeof(shim));
	shim.payload = htons((uint16_t)(ntohs(shim.payload) - (d->segment_size - size)));
	shim.frame = htons((uint16_t)(padded(size) + (int64_t)CARRIED));
	memcpy(head + offsetof(struct roce, shim) - CARRIED, &shim, sizeof(shim));
	head[offsetof(struct roce, bth_flags) - CARRIED] |= (uint8_t)((padded(size) - size) << 4);
	return padded(size);
}

/* The head of packet `number` of a flow; the NIC adds the packet number. Returns how many bytes it has with payload. */
int64_t write_head(struct datapath *d, int64_t f, int64_t number, uint8_t *head)
{
	uint32_t qp = htonl((uint32_t)(QP_BASE + d->first + f));
	int64_t size = d->segment_size;

	memcpy(head, d->packet, HEAD);
	memcpy(head + offsetof(struct roce, qp) - CARRIED, &qp, sizeof(qp));
	if (MANY_PATHS || has_credits(d)) {
		uint32_t imm = MANY_PATHS ? (uint32_t)note_sent(d, f, number) : 0;

		imm = htonl(has_credits(d) ? imm | what_it_wants(d, f) << ENTROPY_BITS : imm);
		memcpy(head + offsetof(struct roce, imm) - CARRIED, &imm, sizeof(imm));
	}
	if (d->decisions.wants_src && d->decisions.of[f]->wants_src)
		head[offsetof(struct roce, shim.flags) - CARRIED] |= bolt_flags(d, f, number);
	if (numbered(d))
		give_number(d, f, number, head);
	if (d->flow[f].short_size && number == d->flow[f].short_at)
		size = shorten(d, f, head);
	if (numbered(d) && has_credits(d))
		say_what_left(d, f, head);
	if (d->messages.reth)
		write_reth(d, f, number, head + d->messages.reth);
	return size;
}

/* A credit, as sockets carry it. */
void write_credit(const struct datapath *d, int64_t f, int64_t granted, uint8_t *head)
{
	uint32_t qp = htonl((uint32_t)(QP_BASE + f)), psn = htonl((uint32_t)granted & 0xffffff);

	memcpy(head, d->packet, HEAD);
	head[offsetof(struct roce, opcode) - CARRIED] = BTH_CREDIT;
	head[offsetof(struct roce, bth_flags) - CARRIED] = 0;
	memcpy(head + offsetof(struct roce, qp) - CARRIED, &qp, sizeof(qp));
	memcpy(head + offsetof(struct roce, psn) - CARRIED, &psn, sizeof(psn));
	memset(head + offsetof(struct roce, imm) - CARRIED, 0, HEAD - (offsetof(struct roce, imm) - CARRIED) + ICRC_SIZE);
}
