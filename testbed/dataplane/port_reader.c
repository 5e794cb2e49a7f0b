// SPDX-License-Identifier: Apache-2.0
/* The programs may write meanwhile: what belongs together is read at once, and each of it once. */
#include "port_reader.h"

#include "maps.h"

#define ONCE(x) (*(const volatile __typeof__(x) *)&(x))

/* Wall ns for which an interface was paused between two moments, by its two newest pauses. */
static int64_t paused_between(const struct pause *p, int64_t since, int64_t until)
{
	int64_t sum = 0;

	for (int i = 0; i < 2; i++) {
		int64_t begin = (int64_t)p->span[i].from, end = (int64_t)p->span[i].until;

		begin = begin > since ? begin : since;
		end = end < until ? end : until;
		sum += end > begin ? end - begin : 0;
	}
	return sum;
}

/* Until now: the two newest pauses may not be over, or lie ahead; of all others the programs keep the sum. */
static double paused_seconds(const struct pause *p, int64_t now)
{
	return (double)((int64_t)p->paused_ns + paused_between(p, 0, now)) / 1e9;
}

struct state {
	double sent, queue, area; /* bytes, bytes, byte-seconds of wall time */
};

/* The virtual queue of a port: it has drained since the last arrival, but for pauses of the port itself. */
static struct state drained(const struct port_counters *c, const struct pause *pause, double speed, int64_t now)
{
	int64_t last = (int64_t)ONCE(c->last_ns);
	double before = (double)(int64_t)ONCE(c->queue), area = (double)(int64_t)ONCE(c->area) / 1e9;
	double sent = (double)(int64_t)ONCE(c->bytes);
	double since = (double)(now - last) / 1e9;
	double paused = (double)paused_between(pause, last, now) / 1e9;
	double idle = (since > 0 ? since : 0) - paused;
	double busy = idle < before / speed ? idle : before / speed;
	double queue = before - busy * speed;

	sent -= queue;
	if (since < 0 && queue > 0) /* what came later than now is not sent yet */
		sent -= -since * speed;
	area += before * paused;
	area += (before + queue) / 2 * busy;
	return (struct state){sent, queue, area};
}

/*
 * One of several queues, or all of them: what entered less what left. So is the integral of the queue: a byte that has
 * left was there from its entry until then, one that has not until now. Sums wrap, their difference does not.
 */
static struct state counted(const struct port_counters *c, const struct departures *d, int64_t now)
{
	uint64_t entered = ONCE(c->bytes), left = ONCE(d->bytes);
	int64_t queue = (int64_t)(entered - left);
	uint64_t area = ONCE(d->byte_ns) - ONCE(c->area) + (uint64_t)queue * (uint64_t)now;

	return (struct state){(double)(int64_t)left, (double)(queue > 0 ? queue : 0), (double)(int64_t)area / 1e9};
}

/* The sum of its priorities, and the longest of their pauses. */
static void read_priorities(const struct ports *ports, int64_t i, int64_t now, double *own)
{
	int64_t n = ports->count;
	double bytes = 0, frames = 0, paused = 0;

	for (int64_t k = i * ports->priorities; k < (i + 1) * ports->priorities; k++) {
		int64_t in = ports->ingress_rows[k], far = ports->pause_rows[k];
		double seconds = far < 0 ? 0 : paused_seconds(&ports->pauses[far], now);

		bytes += in < 0 ? 0 : (double)(int64_t)ports->ingresses[in].bytes;
		frames += in < 0 ? 0 : (double)(int64_t)ports->ingresses[in].frames;
		paused = seconds > paused ? seconds : paused;
	}
	own[INGRESS * n] = bytes;
	own[PAUSE_FRAMES * n] = frames;
	own[PAUSED * n] = paused / ports->dilation;
}

void read_ports(const struct ports *ports, int64_t now, double *to)
{
	int64_t n = ports->count;

	for (int64_t i = 0; i < n; i++) {
		int64_t index = ports->index[i];
		const struct port_counters *c = &ports->counters[index];
		const struct ingress *ingress = &ports->ingresses[index];
		struct state is = ports->departures ? counted(c, &ports->departures[ports->peer[i]], now)
						    : drained(c, &ports->pauses[index], ports->bytes_per_second[i], now);
		double *own = to + i;

		own[TX_BYTES * n] = is.sent;
		own[TX_PACKETS * n] = (double)(int64_t)c->packets;
		own[QUEUE * n] = is.queue;
		own[PEAK_QUEUE * n] = (double)(int64_t)c->peak;
		own[QUEUE_AREA * n] = is.area / ports->dilation;
		own[MARKED_PACKETS * n] = (double)(int64_t)c->marked_packets;
		own[DROPPED_PACKETS * n] = (double)(int64_t)(c->dropped_packets + c->lost_packets);
		for (int64_t k = 0; k < 3; k++)
			own[(KMIN + k) * n] = ports->thresholds[k * n + i];
		own[INGRESS * n] = (double)(int64_t)ingress->bytes;
		own[PAUSE_FRAMES * n] = (double)(int64_t)ingress->frames;
		own[PAUSED * n] = paused_seconds(&ports->pauses[ports->peer[i]], now) / ports->dilation;
		if (ports->priorities)
			read_priorities(ports, i, now, own);
		own[MARKED_BYTES * n] = (double)(int64_t)c->marked_bytes;
	}
}
