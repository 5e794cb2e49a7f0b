/*
 * The delay of links for the packets of apps, where the kernel has no netem.
 *
 * What comes in at a host, and is no packet of the testbed's, its NIC's program sends to a TAP (`detour` in wire.h). Here it
 * waits as long as the path from its sender takes, and goes on into the host by the same TAP. Behind the last port: until there
 * the sockets, shapers and queues are those of a host whose links have no delay.
 */
#define _GNU_SOURCE /* ppoll */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST 65536	 /* bytes of a frame */
#define SENDER_AT 26 /* the last four bytes of Ethernet's and IPv4's headers before the receiver's address */

struct waiting {
	int64_t due_ns;
	uint64_t number; /* equal delays keep the order */
	int64_t host, bytes;
	uint8_t *frame;
};

struct delays {
	int64_t hosts;
	const int32_t *taps;	/* descriptor of each host's */
	const uint32_t *senders; /* IPv4 address of each host, big-endian */
	const int64_t *ns;	/* [receiver][sender] */
	struct waiting *heap;
	size_t count, room;
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int earlier(const struct waiting *one, const struct waiting *other)
{
	return one->due_ns < other->due_ns || (one->due_ns == other->due_ns && one->number < other->number);
}

static int push(struct delays *d, struct waiting added)
{
	size_t at = d->count++;

	if (at == d->room) {
		size_t room = d->room ? 2 * d->room : 1024;
		struct waiting *heap = realloc(d->heap, room * sizeof(*heap));

		if (!heap)
			return -1;
		d->heap = heap;
		d->room = room;
	}
	for (; at && earlier(&added, &d->heap[(at - 1) / 2]); at = (at - 1) / 2)
		d->heap[at] = d->heap[(at - 1) / 2];
	d->heap[at] = added;
	return 0;
}

static struct waiting pop(struct delays *d)
{
	struct waiting first = d->heap[0], last = d->heap[--d->count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < d->count) {
		child += child + 1 < d->count && earlier(&d->heap[child + 1], &d->heap[child]);
		if (!earlier(&d->heap[child], &last))
			break;
		d->heap[at] = d->heap[child];
		at = child;
	}
	if (d->count)
		d->heap[at] = last;
	return first;
}

/* From the sender's address; of one that is not known, as from the first host. */
static int64_t delay_of(const struct delays *d, int64_t host, const uint8_t *frame, int64_t bytes)
{
	uint32_t sender = 0;

	if (bytes >= SENDER_AT + 4)
		memcpy(&sender, frame + SENDER_AT, sizeof(sender));
	for (int64_t from = 0; from < d->hosts; from++)
		if (d->senders[from] == sender)
			return d->ns[host * d->hosts + from];
	return d->ns[host * d->hosts];
}

static int take(struct delays *d, int64_t host, uint64_t *number)
{
	static uint8_t frame[MOST];
	ssize_t bytes;

	while ((bytes = read(d->taps[host], frame, sizeof(frame))) > 0) {
		struct waiting one = {.number = (*number)++, .host = host, .bytes = bytes, .frame = malloc(bytes)};

		if (!one.frame)
			return -1;
		memcpy(one.frame, frame, bytes);
		one.due_ns = now_ns() + delay_of(d, host, frame, bytes);
		if (push(d, one))
			return -1;
	}
	return bytes < 0 && errno != EAGAIN && errno != EINTR ? -1 : 0;
}

/* Until the process ends; returns only if it cannot go on. The TAPs do not block. */
int delay_apps(int64_t hosts, const int32_t *taps, const uint32_t *senders, const int64_t *ns)
{
	struct delays d = {.hosts = hosts, .taps = taps, .senders = senders, .ns = ns};
	struct pollfd *polled = calloc(hosts, sizeof(*polled));
	uint64_t number = 0;

	if (!polled)
		return -1;
	for (int64_t host = 0; host < hosts; host++)
		polled[host] = (struct pollfd){.fd = taps[host], .events = POLLIN};
	for (;;) {
		struct timespec left = {0}, *until = NULL;
		int64_t now = now_ns();

		while (d.count && d.heap[0].due_ns <= now) {
			struct waiting one = pop(&d);

			if (write(taps[one.host], one.frame, one.bytes) < 0 && errno != EAGAIN && errno != EINTR)
				return -1;
			free(one.frame);
		}
		if (d.count) {
			int64_t ns_left = d.heap[0].due_ns - now;

			left = (struct timespec){ns_left / 1000000000, ns_left % 1000000000};
			until = &left;
		}
		if (ppoll(polled, hosts, until, NULL) < 0 && errno != EINTR)
			return -1;
		for (int64_t host = 0; host < hosts; host++)
			if (polled[host].revents && take(&d, host, &number))
				return -1;
	}
}
