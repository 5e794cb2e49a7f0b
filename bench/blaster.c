// SPDX-License-Identifier: Apache-2.0
/* Senders with no controller: what the data plane itself can do. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

#define MOST 32

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int64_t send_some(int fd, const uint8_t *packet, int64_t size, int64_t packets)
{
	struct iovec part[MOST];
	struct msghdr message = {.msg_iov = part, .msg_iovlen = packets};

	for (int64_t i = 0; i < packets; i++) {
		part[i].iov_base = (void *)packet;
		part[i].iov_len = size;
	}
	return sendmsg(fd, &message, MSG_DONTWAIT) < 0 ? 0 : packets;
}

/* One flow, as fast as it goes. Returns the packets that the kernel took. */
int64_t blast(int fd, const uint8_t *packet, int64_t size, int64_t batch, double seconds)
{
	double end = now() + seconds;
	int64_t sent = 0;

	while (now() < end)
		sent += send_some(fd, packet, size, batch);
	return sent;
}

/*
 * Keep `window` packets in flight per flow: the kernel counts the acknowledgements (every `stride` bytes from `acks`).
 * The ring is emptied unread. Returns the packets sent.
 */
int64_t keep_full(const int64_t *fds, const uint8_t *packets, int64_t size, int64_t flows, const uint8_t *acks,
		  int64_t stride, uint64_t *consumer, const uint64_t *producer, int64_t window, int64_t batch,
		  double seconds)
{
	double end = now() + seconds;
	int64_t sent[flows], total = 0;

	for (int64_t f = 0; f < flows; f++)
		sent[f] = 0;
	while (now() < end) {
		for (int64_t f = 0; f < flows; f++) {
			int64_t acked = (int64_t)__atomic_load_n((const uint64_t *)(acks + f * stride), __ATOMIC_RELAXED);

			if (sent[f] - acked <= window - batch)
				sent[f] += send_some((int)fds[f], packets + f * size, size, batch);
		}
		__atomic_store_n(consumer, __atomic_load_n(producer, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
	}
	for (int64_t f = 0; f < flows; f++)
		total += sent[f];
	return total;
}
