// SPDX-License-Identifier: Apache-2.0
/*
 * What ties the datapath to this machine: the clock, and the system call that takes packets. The virtual engine has its own
 * (testbed/engines/virtual/host.c).
 */
#include "machine.h"
#include "datapath.h"
#include "heads.h"

#include <errno.h>
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
