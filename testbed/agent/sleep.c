// SPDX-License-Identifier: Apache-2.0
/* Sleeping, as this machine does it: the virtual engine has its own (testbed/engines/virtual/sleep.c). */
#include "sleep.h"
#include "datapath.h"
#include "feedback.h"
#include "machine.h"
#include "pace.h"
#include "tasks.h"

#include <poll.h>
#include <unistd.h>

/* Sleep and send until `until`, or until the ring wakes us. Whoever is awake to send need not wake up again to decide. */
void send_until(struct datapath *d, double until)
{
	double gathered = 0;

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
		if (now >= until - gathered)
			return; /* the time that Python takes until it is back counts as well */
		next = fmin(fmin(heap_first(&d->agenda), next_received(d)), until);
		if (next < now + d->quantum) /* a timer per packet costs more than the packet */
			next = now + d->quantum;
		ns = (int64_t)((next - now_seconds(d)) / d->seconds_per_ns);
		if (ns <= 0)
			continue;
		t = (struct timespec){ns / 1000000000, ns % 1000000000};
		d->awake_by = next;
		gathered = d->decisions.gather;
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
