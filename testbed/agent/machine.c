// SPDX-License-Identifier: Apache-2.0
/*
 * What ties the datapath to this machine: the clock, sleeping, and the system call that takes packets. The virtual engine
 * has its own (testbed/engines/virtual/host.c); all else of an agent is the same there.
 */
#include "batch.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

double now_seconds(const struct datapath *d)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)(t.tv_sec * 1000000000ll + t.tv_nsec - d->epoch_ns) * d->seconds_per_ns;
}

/* Hand a batch to the kernel; returns how many packets it took. UDP_SEGMENT splits them behind one call. */
int64_t transmit(struct datapath *d, const struct batch *batch)
{
	uint8_t heads[MOST_AT_ONCE][HEAD + MOST_BEFORE_PAYLOAD];
	int64_t head = d->messages.reth ? d->messages.reth + RETH_SIZE : (int64_t)HEAD;
	struct iovec part[2 * MOST_AT_ONCE];
	struct msghdr message = {.msg_iov = part, .msg_iovlen = 2 * batch->packets};
	int fd = (int)d->flow[batch->segments[0].flow].fd;
	int64_t packets = 0;

	for (int64_t i = 0; i < batch->length; i++) {
		const struct segment *p = &batch->segments[i];

		for (int64_t k = 0; k < p->packets; k++, packets++) {
			int64_t size;

			if (d->messages.reth)
				memcpy(heads[packets], d->packet, (size_t)head);
			size = write_head(d, p->flow, p->number + k, heads[packets]);
			part[2 * packets] = (struct iovec){heads[packets], (size_t)head};
			part[2 * packets + 1] = (struct iovec){d->packet + head, (size_t)(size - head)};
		}
	}
	if (d->segment)
		return sendmsg(fd, &message, MSG_DONTWAIT) < 0 ? 0 : packets;
	for (int64_t i = 0; i < packets; i++) {
		message = (struct msghdr){.msg_iov = part + 2 * i, .msg_iovlen = 2};
		if (sendmsg(fd, &message, MSG_DONTWAIT) < 0)
			return i;
	}
	return packets;
}

/* One that the kernel does not take now is made up for by the next one, or by a timeout. */
void send_credit(struct datapath *d, int64_t f, int64_t granted)
{
	uint8_t credit[HEAD + ICRC_SIZE];

	write_credit(d, f, granted, credit);
	if (send((int)d->credits.fd[f], credit, sizeof(credit), MSG_DONTWAIT) < 0 && errno != EAGAIN && errno != ENOBUFS)
		d->send_error = errno;
}

/* Sleep and send until `until`, or until the ring wakes us. */
void pace(struct datapath *d, double until)
{
	for (;;) {
		double now = now_seconds(d), next;
		int64_t ns;
		struct timespec t;

		if (d->awake_by > 0)
			count(&d->timers, fmax(now - d->awake_by, 0));
		send_due(d, now);
		d->awake_by = now_seconds(d);
		see_received(d, now);
		until = fmin(until, next_start(d));
		if (now >= until)
			return; /* the time that Python takes until it is back counts as well */
		next = fmin(fmin(heap_first(&d->agenda), next_received(d)), until);
		if (next < now + d->quantum) /* a timer per packet costs more than the packet */
			next = now + d->quantum;
		ns = (int64_t)((next - now_seconds(d)) / d->seconds_per_ns);
		if (ns <= 0)
			continue;
		t = (struct timespec){ns / 1000000000, ns % 1000000000};
		d->awake_by = next;
		if (d->wake_by_ring || d->tasks) {
			struct pollfd ends[] = {{.fd = d->wake_by_ring ? (int)d->ring_fd : -1, .events = POLLIN},
						{.fd = d->tasks ? (int)d->tasks->wake[d->agent] : -1, .events = POLLIN}};

			if (ppoll(ends, 2, &t, NULL) <= 0)
				continue;
			d->awake_by = 0;
			if (ends[1].revents && read(ends[1].fd, &ns, sizeof(ns)) < 0)
				continue; /* another start has been seen with the one before */
			if (ends[0].revents)
				return;
		} else {
			clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
		}
	}
}
