/* SPDX-License-Identifier: Apache-2.0
 *
 * A congestion controller in C99: what its author includes, and nothing else of testbed. One file is one controller.
 *
 *	#include "testbed_cc.h"
 *
 *	#define OPTIONS(option) option(double, cut, 0.3, "(0, 1)", "share", "What a congested RTT takes off the window.")
 *	CC_OPTIONS(OPTIONS)
 *
 *	struct cc_flow {
 *		CC_FLOW;
 *		double next_cut;
 *	};
 *
 *	static void on_ack(struct cc_flow *flow, const struct cc_ack *ack)
 *	{
 *		...
 *	}
 *
 *	CC_CONTROLLER(.text = "Half as much on long RTTs.", .signals = CC_RTT, .on_ack = on_ack)
 *
 * Units are nominal and SI: seconds since the start of the run, bytes, bit/s. Rates and windows count whole Ethernet
 * frames, as links and switches do.
 */
#ifndef TESTBED_CC_H
#define TESTBED_CC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CC_VERSION 2 /* of this interface */
#define CC_MOST_HOPS 8

/* What a controller needs from the network. Every packet is acknowledged, with or without these. */
enum cc_signal {
	CC_RTT = 1, /* a round-trip time per acknowledgement */
	CC_CE = 2, /* ECN echo */
	CC_CNP = 4, /* congestion notification packets: on_cnp */
	CC_INT = 8, /* in-band telemetry of every hop, in every packet */
	CC_TX = 16, /* on_sent */
	CC_SRC = 32 /* on_src, and inc_packets: switches speak Bolt */
};

/* One INT record. */
struct cc_hop {
	int64_t node; /* identifies switch and port */
	double ts; /* s, clock of the switch */
	double tx_bytes; /* dequeued by the port until ts */
	double queue; /* bytes, at ts */
	double rate; /* bit/s of the port */
};

/* One acknowledgement. */
struct cc_ack {
	double now; /* s */
	int64_t packets, bytes; /* acknowledged: one packet, in wire bytes */
	int64_t seq; /* highest packet number acknowledged so far */
	int64_t next_seq; /* number of the next packet to be sent */
	int64_t inflight; /* wire bytes sent and neither acknowledged nor lost */
	double rtt; /* s */
	int64_t ce_packets; /* acknowledged packets that were marked */
	int64_t inc_packets; /* that no switch denied more: only with CC_SRC */
	int64_t hop_count; /* of the INT stack, in path order */
	struct cc_hop hops[CC_MOST_HOPS];
};

/* What is known of a flow's path before it starts. */
struct cc_path {
	double line_rate; /* bit/s of the sender's NIC */
	double base_rtt; /* s, round trip of a full packet through empty queues */
	double longest_rtt; /* s, base RTT of the network's longest path */
	double bdp; /* bytes: line_rate * base_rtt / 8 */
	int64_t hops; /* switches on the way */
	int64_t payload, wire_size; /* bytes of a full packet: of user data, on the wire */
};

/*
 * How the author's `struct cc_flow` begins; state follows, in any types. When a flow starts its state is all zeros, its
 * rate the line rate, window and timer infinite; then comes on_start. A callback sets what it wants to change:
 *
 * rate   bit/s, above 0; at most the line rate applies
 * window bytes in flight, above 0; with nothing in flight one packet always leaves
 * timer  s: when on_timer is to be called, or INFINITY
 */
#define CC_FLOW                            \
	double rate, window, timer;        \
	const struct cc_options *options;  \
	struct cc_path path

struct cc_flow;

/*
 * Options: a list of type, name, default, range, unit, text, handed to CC_OPTIONS at file scope. It makes `struct
 * cc_options`, to which flow->options points. Without a list, say CC_NO_OPTIONS.
 *
 * type   double, int64_t, uint32_t, bool or cc_choice
 * range  "[0, 1]", "(0, inf)" with round brackets for bounds that are left out; "" for any; of a cc_choice its texts,
 *        "patched|original", whose positions are its values
 * unit   "s", "bit/s", "B" and "share" are read with units ("8 us", "30 %"); any other is for the docs
 *
 * Two names are known: `cnp_interval` (s) is how often a receiver sends CNPs for a flow, and `src_threshold` the full
 * packets in a queue from which on switches send SRCs.
 */
typedef int64_t cc_choice;

struct cc_option {
	const char *type, *name, *range, *unit, *text;
	double initial;
	int64_t offset; /* in struct cc_options */
};

#define CC_MEMBER(TYPE, NAME, INITIAL, RANGE, UNIT, TEXT) TYPE NAME;
#define CC_ROW(TYPE, NAME, INITIAL, RANGE, UNIT, TEXT) \
	{#TYPE, #NAME, RANGE, UNIT, TEXT, (double)(INITIAL), (int64_t)offsetof(struct cc_options, NAME)},
#define CC_OPTIONS(LIST)                                                                                      \
	struct cc_options {                                                                                   \
		LIST(CC_MEMBER)                                                                               \
	};                                                                                                    \
	static const struct cc_option cc_options[] = {LIST(CC_ROW){NULL, NULL, NULL, NULL, NULL, 0, 0}};
#define CC_NO_OPTIONS                       \
	struct cc_options {                 \
		int none;                   \
	};                                  \
	static const struct cc_option cc_options[] = {{NULL, NULL, NULL, NULL, NULL, 0, 0}};

/* The controller: what it is, and its callbacks. All may be left out but one. */
struct cc_controller {
	const char *name; /* by default the file's */
	const char *text; /* one line */
	const char *thresholds; /* the preset of the tuner `static` that it is made for */
	int64_t signals; /* of enum cc_signal */
	int64_t unresponsive; /* 1: it does not react, by design */

	void (*on_start)(struct cc_flow *flow, double now);
	void (*on_ack)(struct cc_flow *flow, const struct cc_ack *ack);
	void (*on_cnp)(struct cc_flow *flow, double now);
	void (*on_loss)(struct cc_flow *flow, double now, int64_t packets); /* NACK: before the ACK that shows it */
	/* nothing came back for a retransmission timeout: all that was in flight, so many packets, counts as lost */
	void (*on_timeout)(struct cc_flow *flow, double now, int64_t packets);
	void (*on_timer)(struct cc_flow *flow, double now); /* set the next time, or INFINITY; it may be late */
	void (*on_sent)(struct cc_flow *flow, double now, int64_t bytes);
	/* a switch says: a packet, sent `age` seconds ago, found `queue` bytes at a port of `rate` */
	void (*on_src)(struct cc_flow *flow, double now, double age, double queue, double rate);
};

enum cc_event { CC_ON_START, CC_ON_ACK, CC_ON_CNP, CC_ON_LOSS, CC_ON_TIMEOUT, CC_ON_TIMER, CC_ON_SENT, CC_ON_SRC };

/* From here on it is for testbed, which loads the library and looks for `cc_library`. */
typedef int32_t cc_decide_fn(void *nothing, void **raised, struct cc_flow *flow, int64_t event, double now,
			     int64_t number, const struct cc_ack *ack);

struct cc_library {
	int64_t version, flow_size, options_at, path_at, options_size;
	const char *compiler;
	const struct cc_option *options;
	const struct cc_controller *controller;
	cc_decide_fn *decide;
};

#ifdef __VERSION__
#define CC_COMPILER __VERSION__
#else
#define CC_COMPILER "unknown"
#endif

#define CC_TELL(CALLBACK, ...)                           \
	do {                                             \
		if (cc_controller.CALLBACK)              \
			cc_controller.CALLBACK(__VA_ARGS__); \
	} while (0)

#define CC_CONTROLLER(...)                                                                                        \
	static const struct cc_controller cc_controller = {__VA_ARGS__};                                          \
                                                                                                                  \
	static int32_t cc_decide(void *nothing, void **raised, struct cc_flow *flow, int64_t event, double now,   \
				 int64_t number, const struct cc_ack *ack)                                        \
	{                                                                                                         \
		(void)nothing;                                                                                    \
		(void)raised;                                                                                     \
		switch (event) {                                                                                  \
		case CC_ON_START: CC_TELL(on_start, flow, now); break;                                            \
		case CC_ON_ACK: CC_TELL(on_ack, flow, ack); break;                                                \
		case CC_ON_CNP: CC_TELL(on_cnp, flow, now); break;                                                \
		case CC_ON_LOSS: CC_TELL(on_loss, flow, now, number); break;                                      \
		case CC_ON_TIMEOUT: CC_TELL(on_timeout, flow, now, number); break;                                \
		case CC_ON_TIMER: CC_TELL(on_timer, flow, now); break;                                            \
		case CC_ON_SENT: CC_TELL(on_sent, flow, now, number); break;                                      \
		case CC_ON_SRC: CC_TELL(on_src, flow, now, ack->rtt, ack->hops[0].queue, ack->hops[0].rate); break; \
		default: break;                                                                                   \
		}                                                                                                 \
		return 0;                                                                                         \
	}                                                                                                         \
                                                                                                                  \
	extern const struct cc_library cc_library;                                                                \
	const struct cc_library cc_library = {                                                                    \
		CC_VERSION,                                                                                       \
		(int64_t)sizeof(struct cc_flow),                                                                  \
		(int64_t)offsetof(struct cc_flow, options),                                                       \
		(int64_t)offsetof(struct cc_flow, path),                                                          \
		(int64_t)sizeof(struct cc_options),                                                               \
		CC_COMPILER,                                                                                      \
		cc_options,                                                                                       \
		&cc_controller,                                                                                   \
		cc_decide,                                                                                        \
	};

#endif
