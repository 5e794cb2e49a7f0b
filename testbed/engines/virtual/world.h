/* SPDX-License-Identifier: Apache-2.0
 *
 * A rack in virtual time: lines, and the packets on them; world.c and the headers that are its parts. structs.py mirrors what
 * is marked.
 *
 * Time is in ticks, of which the stamps of packets and programs say that they were ns: see clock.py.
 */
#ifndef TESTBED_WORLD_H
#define TESTBED_WORLD_H

#include <stdint.h>

#define HEADERS 336 /* bytes of a flow's packet that are kept: all headers with MAX_HOPS records and an RETH; payloads are zeros */
#define HEAD_BYTES 42 /* Ethernet, IPv4, UDP */
#define CACHE_LINE 64 /* bytes */
#define TICK_SHIFT 20 /* fixed point of a line's ticks per byte */
#define NEVER INT64_MAX

struct wall; /* wall.c */
struct app_links; /* app_links.c */
struct part; /* parts.h */
struct calendar; /* calendar.h */

struct packet {
	int64_t arrives; /* at the end of the line that it is on, or was */
	int64_t order; /* of being sent, among those that wait for the line */
	struct packet *next;
	uint32_t length; /* bytes of the frame */
	uint16_t data; /* in the class that can be paused, and that answers overtake with Bolt */
	uint8_t whole; /* an app's, of which all bytes are kept: it is longer than this struct */
	uint8_t lost; /* by the link of its host, at whose end it vanishes */
#if CLASSES
	uint32_t queue; /* of the port whose line it is on, or waits for */
#endif
#if MANY_PATHS
	uint32_t hash; /* that switches take for ECMP instead of addresses and ports; 0 for none */
	int32_t via; /* number of the switch that it goes to first; -1 for none, or when it has been there */
#endif
	uint8_t bytes[HEADERS];
};

struct fifo {
	struct packet *first, *last;
};

/* At the end of a line. */
struct arrival {
	int64_t time, line;
	struct packet *packet;
};

/* Those from `first` to before `end`. */
struct arrivals_list {
	struct arrival *of;
	int64_t first, end, room;
};

/*
 * One direction of a link; line i begins at interface `lines->from` + i, and its reverse is line i ^ 1. What every packet
 * needs is in the first line of a cache, what it needs where frames are routed in the second. Mirrored in structs.py.
 */
struct line {
	int64_t per_byte; /* ticks << TICK_SHIFT */
	int64_t delay; /* ticks */
	int64_t free; /* state: when the next packet may begin */
	struct packet *leaving; /* state, where packets wait; and how many are on it, and whether one leaves */
	int32_t on_the_way, busy;
	int32_t from, to; /* ifindex of its ends */
	int32_t sender, receiver; /* numbers of switches; -1 - number of a host */
	int16_t tapped[2]; /* capture: number + 1 of the tap where packets enter, and where they come out; 0 for none */
	int32_t beyond; /* number + 1 of the part where it ends, if it begins in another; 0: it does not */
	uint8_t macs[16]; /* destination and source of frames that were routed onto it */
	/* state, where packets wait: what waits, by class; pause frames go first */
	struct fifo waiting[2], pauses;
} __attribute__((aligned(CACHE_LINE)));

/* `id` is a line: it is free; lines + line: its port renews a pause; 2 * lines + line: its watchdog looks. */
struct occasion {
	int64_t time, id;
};

/* A ring of the programs, as the kernel lays it out (testbed/dataplane/ring.py). Mirrored in structs.py. */
struct records {
	uint64_t *consumer, *producer;
	uint8_t *data;
	int64_t size; /* a power of two; behind it there is room for one record more */
	int64_t submitted; /* since it was last looked at */
};

/*
 * Packets that have passed a point, until Python takes them. It grows, so that none is lost. Mirrored in structs.py and
 * taps.py.
 */
struct tap {
	uint8_t *bytes; /* of each packet `snap`, with a header of 24: ticks, length, whether it arrived at the point or left it */
	int64_t snap, room, length; /* in packets, but for snap */
};

/* Mirrored in structs.py. */
struct world {
	/* each part has its own: */
	int64_t now, order;
	struct part *part; /* NULL: the rack is one */
	struct calendar *calendar;
	struct occasion *events; /* a heap, see occasions.h; three per line have room */
	int64_t event_count;
	struct records *feedback;
	int64_t *resumed, resumed_count; /* hosts to which a pause frame came */
	int64_t released; /* whether flows that waited for others need not any more */
	int64_t next_sample; /* the tick at whose end it is due */
	int64_t unroutable, events_done; /* counters */
	/* of the rack: */
	int64_t line_count, host_count, switch_count, lossless, queued, routed; /* queued: packets wait for their line */
	struct line *lines;
	int64_t *place; /* of each id in its heap of events; -1 for none */
	/* of a host, by number: the lines from it and to it, its switch, and its number among the agent's senders (or -1) */
	int64_t *up, *down, *edge, *sender;
	/* of an interface: the line that begins there */
	int64_t *out;
	/* next hops by [switch][edge switch]: where they begin in `hops`, which has a count and then lines */
	int64_t *hops_at, *hops;
	uint64_t *hash_seed; /* of a switch */
	/* maps of the programs */
	void *departed, *arrivals, *flows_tx, *flows_rx, *ingresses, *pauses, *port_config, *port_counters, *port_red, *port_queue, *port_bolt, *flowlets, *class_table, *departures,
		*receivers, *shares, *groups, *pools, *intakes;
	struct queues *queues; /* of each line, with classes */
	struct scheduler *scheduler;
	struct watchdog *watchdog; /* NULL for none */
	void *flow_table; /* struct table */
	/* the agent: heads of its sockets' frames, of HEAD_BYTES each; bytes of a packet behind them that are not payload */
	uint8_t *heads;
	int64_t *socket_host;
	/* credits: heads of each flow's, and the number of the host that sends them */
	uint8_t *credit_heads;
	int64_t *receiver;
	int64_t carried;
	/* agent: for how many seconds feedback may be gathered */
	double gather;
	void *tasks; /* struct tasks, if flows wait for others */
	int64_t renewed_after; /* quanta after which a pause is sent again */
	struct tap *taps;
	void *sampler; /* struct sampler */
	struct wall *wall; /* whose pace it keeps; NULL for none */
	struct app_links *apps; /* NULL for none */
	int64_t whole_size; /* of a packet of theirs with all its bytes */
	int64_t routing; /* enum routing */
	int64_t entries; /* whether packets are counted that come into switches from hosts */
};

void enter(struct world *w, const void *nic, int64_t nic_size, const void *port, int64_t port_size);
void drain(struct world *w, int64_t until);
void abandon(struct world *w);
int64_t run_until_fed(struct world *w, int64_t until);
void catch_up_all(struct world *w, int64_t before);
void take_samples(struct world *w, int64_t until);
struct packet *new_packet(void);
struct calendar *make_calendar(int64_t cell);
void forget_calendar(struct calendar *c);
void send_up(struct world *w, int64_t host, struct packet *p);

extern __thread struct world *world; /* the one that this thread is in */
#define LARGE 2000 /* lines of a rack: what they and their packets have is more than caches hold */
extern __thread int exceeds_caches; /* a large rack or many flows: what is about to be touched is fetched */

#endif
