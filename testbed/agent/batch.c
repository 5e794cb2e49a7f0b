// SPDX-License-Identifier: Apache-2.0
/* From segments of packets to bytes in the kernel: what is due together at a host leaves in one system call. */
#include "batch.h"
#include "datapath.h"
#include "heads.h"
#include "machine.h"
#include "recovery.h"
#include "schedule.h"

#include <errno.h>

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
