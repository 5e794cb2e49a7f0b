// SPDX-License-Identifier: Apache-2.0
/* From segments of packets to bytes in the kernel: what is due together at a host leaves in one system call. */
#include "batch.h"

#include <arpa/inet.h>
#include <errno.h>
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

/* The kernel did not take the last `packets` packets of a segment: the flow tries again. */
static void requeue(struct datapath *d, const struct segment *s, int64_t packets, double now)
{
	int64_t f = s->flow;

	d->refused += packets;
	if (numbered(d))
		not_sent(d, f, s->number + s->packets - packets, packets);
	else
		d->flow[f].sent -= packets;
	d->flow[f].inflight -= packets;
	d->flow[f].to_send += packets;
	if (!d->flow[f].queued)
		due_at(d, f, now + d->flow[f].slot);
}

/* Frame bytes of the first `packets` of a segment. */
static int64_t frame_bytes(const struct datapath *d, const struct segment *p, int64_t packets)
{
	int64_t bytes = packets * (d->segment_size + (int64_t)CARRIED), k = d->flow[p->flow].short_at - p->number;

	return d->flow[p->flow].short_size && k >= 0 && k < packets ? bytes - (d->segment_size - padded(d->flow[p->flow].short_size))
							       : bytes;
}

/* How late each packet of a segment leaves: they were due one after the other. */
static void count_lag(struct datapath *d, const struct segment *p, double moment)
{
	double gap = (double)(d->wire_size * 8) / d->flow[p->flow].rate;

	for (int64_t k = 0; k < p->packets; k++)
		count(&d->pacing, moment - p->due - (double)k * gap);
}

/* Hand a host's batch to the kernel. */
void hand_over(struct datapath *d, int64_t host, double now)
{
	struct batch *batch = &d->batches[host];
	double moment = now_seconds(d);
	int64_t taken;

	if (!batch->length)
		return;
	for (int64_t i = 0; i < batch->length; i++)
		count_lag(d, &batch->segments[i], moment);
	taken = transmit(d, batch);
	if (taken < batch->packets && errno != EAGAIN && errno != ENOBUFS)
		d->send_error = errno;
	for (int64_t i = 0; i < batch->length; i++) {
		int64_t f = batch->segments[i].flow, packets = batch->segments[i].packets;
		int64_t mine = taken < packets ? taken : packets;

		if (mine && !d->flow[f].sent_now)
			d->unreported[d->unreported_length++] = f;
		d->flow[f].sent_now += mine;
		d->handed[host] += frame_bytes(d, &batch->segments[i], mine);
		if (mine < packets)
			requeue(d, &batch->segments[i], packets - mine, now);
		taken -= mine;
	}
	batch->length = batch->packets = 0;
}

/* The flow's next packets. Those of flows that are late together leave together; all in one call but the last must be full. */
void add_to_batch(struct datapath *d, int64_t f, int64_t packets, int64_t number, double due, double now)
{
	int64_t host = d->flow[f].host;
	struct batch *batch = &d->batches[host];

	if (batch->length &&
	    (d->flow[f].fd != d->flow[batch->segments[0].flow].fd || batch->packets + packets > d->at_once))
		hand_over(d, host, now);
	if (!batch->listed)
		d->filled[d->filled_length++] = host;
	batch->listed = 1;
	batch->segments[batch->length++] = (struct segment){f, packets, number, due};
	batch->packets += packets;
}
