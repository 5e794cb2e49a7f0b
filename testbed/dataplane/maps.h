/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * What NIC and port programs keep, and share with user space: the entries of their maps. wire.py mirrors it.
 */
#ifndef TESTBED_MAPS_H
#define TESTBED_MAPS_H

#include "wire.h"

/* Set before the NIC programs are loaded. */
struct nic_settings {
	__u64 cnp_interval_ns; /* wall time */
	__u64 ring_flags;      /* BPF_RB_NO_WAKEUP where the agent polls anyway, 0 to wake it */
	__u64 flowlet_gap_ns;  /* wall time after which a flow may take another path */
	__u32 lossless;	       /* whether the switches do priority flow control */
	__u32 xon;	       /* bytes */
	__be16 port;	       /* of UDP, and ... */
	__be16 pkey;	       /* ... the partition: packets with others are not the run's, and pass untouched */
	__u32 at_far_end;      /* nic_tx runs where hosts' links end, and counts what arrives there */
	__u32 routing;
	__u32 seed; /* of draws */
	__u32 ack_tos; /* what answers carry: their DSCP, and that they cannot be marked */
	__u32 cnp_tos;
	__u32 numbered; /* flows before this one send again what is lost, under its number: all of the run, but no probes */
	__u32 ahead; /* packets that receivers keep behind a missing one */
	__u32 credits; /* whether agents at receivers grant what is sent */
	__u32 trim_tos; /* of what is left of trimmed packets, but for their ECN bits; 0 for none */
	__u32 slow; /* whether hosts take lossless packets more slowly than their lines bring them */
	__u32 reserved;
};

/* Per flow, at the sender's NIC. */
struct flow_tx {
	__u64 packets; /* sent: the next PSN */
	__u64 acks;
	__u64 ce_echoes;
	__u64 cnps;
	__u64 ring_full; /* feedback that found no room in the ring */
	__u32 ring;      /* where its feedback goes */
	__u32 notice_ring; /* and its notices, which have a shorter way */
	__u64 notices_made; /* SRCs by switches, or credits by the receiver */
	__u64 notices;
	__u64 lost; /* by the link of its sender */
	__u64 answers_lost; /* and what its receiver sent, by that one's link */
};

/* Per flow, at the sender's NIC: its present flowlet. */
struct flowlet {
	__u64 last_ns; /* departure of its newest packet */
	__u32 hash;
	__u32 reserved;
};

#define MOST_NEXT_HOPS 64

/* Ports of a switch on equally short paths, in the order of its routes. */
struct next_hops {
	__u32 count;
	__u32 port[MOST_NEXT_HOPS]; /* ifindex */
};

/* Per flow, at the receiver's NIC. */
struct flow_rx {
	__u64 packets;
	__u64 payload_bytes;
	__u64 ce;
	__u64 cnps;
	__u64 gaps;     /* packets missing, by PSN */
	__u64 reorders; /* packets that arrived after a later one */
	__u64 last_cnp_ns;
	__u32 next_psn; /* 24 bits */
	__u32 ring; /* where its arrivals go, with credits */
};

#define RATE_SHIFT 32      /* fixed point of queue bytes and drain rate: a byte of error in 4 GB */
#define QUEUE_SUB_BITS 3   /* queue histogram: 8 bins per octave */
#define QUEUE_BINS 224

#define SCARCE 8 /* packets: with less room in a buffer, but at most an eighth of it, chance decides who gets in */

#define LINK_DOWN 0xffffffffu /* as the loss of a port: nothing passes its link, in either direction */

struct port_config {
	__u64 drain; /* bytes per ns << RATE_SHIFT */
	__u64 rate_Bps;
	__u64 longest_ns; /* beyond it, drain x time would not fit 64 bits, and any queue is empty */
	__u32 buffer; /* bytes */
	__u32 node;
	__u32 rate_kbps;
	__u32 loss; /* probability of a random drop << 32, minus one; 0 for none */
	__u32 slack; /* bytes by which the shaper's backlog may differ from the virtual queue */
	__u32 peer;  /* ifindex of the peer; 0 for unknown */
	__u64 spare[2]; /* as of all below: each begins at a line of a cache */
};

/* Per interface: what came out of its link. What a port has enqueued and its peer has not received yet waits in the
 * port's shaper. Indexed by ifindex, which is unique in the whole rack. */
struct arrivals {
	__u64 bytes;
	__u64 packets;
	__u64 answered; /* bytes of ACKs and CNPs sent by the NIC here: they share its line with the host's own data */
	__u64 detour;	/* ifindex of where packets of others go on, which delays them; 0: they go straight on */
	__u64 loss;	/* where nic_tx is: probability that the host's link loses what comes, << 32, minus one; 0 for none */
	__u64 drawn;	/* packets of which that was drawn */
	__u64 spare[2];
};

struct port_counters {
	__u64 packets; /* enqueued */
	__u64 bytes;
	__u64 marked_packets;
	__u64 marked_bytes;
	__u64 dropped_packets; /* by the buffer limit */
	__u64 dropped_bytes;
	__u64 lost_packets; /* by the loss model, or on a link that was down */
	__u64 queue;        /* bytes after the last arrival */
	__u64 last_ns;      /* of the last arrival */
	__u64 peak;
	__u64 area;         /* integral of the queue, byte x ns, until last_ns; with classes: see port_reader.c */
	__u64 found;        /* sum of the queues that arriving packets found, bytes */
	__u64 stalled;      /* bytes that the shaper did not send in time: the queue was corrected upwards by them */
	__u64 trimmed_packets; /* found no room; their headers are among the others, or dropped */
	__u64 histogram[QUEUE_BINS]; /* of the queue that arriving packets found */
	__u64 spare[2];
};

#define QUEUES 8 /* of a port, with classes */
#define PRIORITIES 8
#define DSCPS 64
/* As a packet's priority: it waits in queue 0, and with the next number in queue 1; see testbed/engines/kernel/rack/queues.py. */
#define FIRST_QUEUE 0x00020001

/* Which queue packets wait in, at all ports. */
struct class_table {
	__u32 interfaces; /* of the rack; behind their rows in maps of ports are those of queues */
	__u32 at_dequeue; /* whether RED looks at the queue as a packet leaves it */
	__u32 wred;	  /* bits of queues: packets without ECT are dropped where others are marked */
	__u32 others;	  /* the queue of packets without a DSCP */
	__u8 queue_of[DSCPS];
	__u8 group_of[DSCPS];
	__u8 paused_by[QUEUES]; /* by priority: bits of the queues that its pauses hold */
	__u32 shared;		/* whether queues share the memory of their switch: pool.bpf.h */
	__u32 lossless;		/* bits of priority groups */
	__u32 trim_size;	/* bytes that are left of a packet that finds its queue full; 0: none is trimmed */
	__u32 trim_queue;
	__u32 trim_tos;
};

#define ALPHA_SHIFT 20
#define UNLIMITED (1ull << 40) /* bytes: more than a switch has */
#define CLOSED (UNLIMITED + 1) /* as a limit: nothing is admitted */

/* What a queue or a priority group may have of a switch's memory, bytes. */
struct share {
	__u32 reserved;
	__u32 alpha; /* << ALPHA_SHIFT; 0: no dynamic threshold */
	__u64 limit; /* of the pool */
	/* of a queue alone: the number of its switch, and, as state, its bytes */
	__u64 pool;
	__u64 bytes;
};

/* A priority group of a port. */
struct group {
	struct share share;
	__u64 headroom; /* of a lossless one */
	__u64 xon;
	__u64 xon_offset;
	/* state */
	__u64 bytes;
	__u64 above; /* of them in headroom */
	__u64 peak;
	__u64 peak_above;
	__u64 dropped_packets; /* that found no place in it */
};

/* What has left a queue and its line. */
struct departures {
	__u64 bytes;
	__u64 packets;
	__u64 byte_ns; /* sum over all bytes of when they left; what it exceeds wraps */
};

/* Set before the port programs are loaded. Thresholds are bytes per ingress port. */
struct port_settings {
	__u32 xoff;  /* above it the peer is paused; 0 without priority flow control */
	__u32 xon;   /* down to it the peer is resumed */
	__u32 limit; /* xoff and headroom: what exceeds it is dropped */
	__u32 monitor; /* whether flows are counted in the flow table */
	__u32 src_from; /* bytes in the queue from which on it sends SRCs; only in the programs for Bolt */
	__u32 packet; /* bytes of a full packet: the most supply that is kept (SM) */
	__u32 routing;
	__u32 seed; /* of draws */
};

/* Bolt, per port. */
struct port_bolt {
	__s64 supply;  /* bytes << RATE_SHIFT that the link could have carried and nobody sent (SM) */
	__u64 leaving; /* packets per RTT that flows have announced to leave (PRU) */
	__u64 asked;   /* SRCs that its queue called for */
	__u64 made;    /* SRCs that were sent */
};

#define LOSSLESS 3 /* the priority of data; ACKs and CNPs have others and are never paused */
#define LOSSLESS_CLASS 0x00020001 /* where data waits at a port that has a gate; see testbed/engines/kernel/rack/gate.py */

/* Ingress accounting, per switch port: lossless bytes that came in here and have not left the switch. */
struct ingress {
	__u64 bytes;
	__u64 peak;
	__u64 paused;	 /* 1 while the peer is paused */
	__u64 paused_at; /* wall ns */
	__u64 paused_ns; /* of the pauses that are over */
	__u64 pauses;
	__u64 unsignalled; /* crossings that found no room in the ring */
	__u64 frames; /* that were sent out here; counted by testbed.engines.kernel.pfc.generator */
};

#define BELOW_XON 0
#define ABOVE_XOFF 1
#define PAUSE_RECEIVED 2 /* a pause frame came in at a port: its gate must follow */

#define LONGEST_PAUSE 0xffff /* quanta */

/* For testbed.engines.kernel.pfc.generator. */
struct pause_event {
	__u64 ns;
	__u32 port; /* row of an interface, or of a priority of it */
	__u16 what;
	__u16 quanta; /* that a frame shall ask for; 0: to go on */
};

struct pause_span {
	__u64 from; /* wall ns */
	__u64 until;
};

/* Per interface that can be paused. The older of two pauses may not be over when the next is signalled. */
struct pause {
	struct pause_span span[2]; /* the newest is number `spans`, modulo 2 */
	__u64 spans;
	__u64 paused_ns; /* of pauses that are no longer in `span` */
	__u64 frames;	 /* received here */
	__u64 late_ns;	 /* largest delay of a frame that came too late to be honoured in time */
	__u64 hold_ns;	 /* setting: from a crossing until it takes effect here */
	__u64 quantum_ps; /* setting: 512 bit times of the link */
};

/* The flow table. */
struct flow_key {
	__u32 port; /* ifindex */
	__be32 src;
	__be32 dst;
	__be32 qp; /* 24 bits */
};

struct flow_seen {
	__u64 bytes; /* of its frames that the port enqueued */
	__u64 last_ns;
};

#endif
