/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * The packet on the wire, and the records and counters that user space maps. wire.py mirrors this file;
 * tests/dataplane/test_wire.py compares the two.
 *
 *   Ethernet 14 | IPv4 20 | UDP 8 (dst 4791) | BTH 12 | ImmDt or AETH 4 | shim 16 | [INT-MD 16 + hops x 28] | payload | iCRC 4
 *
 * A CNP is its BTH, 16 bytes that are reserved, and the iCRC, which lie where others have the slot of 4 bytes and the shim.
 * Data is RC SEND Only with Immediate: its ImmDt slot becomes the AETH of the ACK, so that a NIC can turn a data packet
 * into its ACK in place. With RDMA WRITE each packet has room for an RETH in front of its payload; that of a message's first
 * comes behind its BTH where it leaves for a capture (testbed/capture/reth.py). Multi-byte fields are in network byte order. The iCRC is carried as zero, and computed where a
 * packet leaves for a capture (testbed/capture/icrc.py).
 */
#ifndef TESTBED_WIRE_H
#define TESTBED_WIRE_H

#include <linux/types.h>

#define ROCE_PORT 4791
#define BTH_SEND_FIRST 0x00 /* RC SEND: up to 0x05 */
#define BTH_SEND_MIDDLE 0x01
#define BTH_SEND_LAST_IMM 0x03
#define BTH_SEND_ONLY_IMM 0x05
#define BTH_WRITE 0x06 /* RC RDMA WRITE: so much more than the SEND of the same place in a message, up to 0x0b */
#define BTH_ACK 0x11
#define BTH_CNP 0x81
#define BTH_SRC 0xC0 /* of those that are left to manufacturers */
#define BTH_CREDIT 0xC1 /* likewise: its PSN says how many packets the receiver has granted so far */
#define BTH_ACK_REQ 0x80
#define AETH_ACK 0x1f /* syndrome: an ACK that limits nobody by credits */
#define AETH_NAK 0x60 /* PSN sequence error: the packet of this number is missing */
#define AETH_TRIMMED 0x65 /* a NAK code that is reserved: of the packet of this number only its headers have come */
#define BTH_BECN 0x40
#define BTH_PAD 0x30 /* bytes of payload that only fill a word */

#define SHIM_INT 0x01 /* an INT-MD header and reserved hops follow the shim */
#define SHIM_CE 0x02  /* ACK only: the acknowledged packet carried CE */
/* Bolt: what the sender says of a packet, and what switches have made of it; its ACK repeats them. */
#define SHIM_SRC 0x04   /* its sender wants SRCs; without this the others mean nothing */
#define SHIM_FIRST 0x08 /* sent before anything was acknowledged */
#define SHIM_LAST 0x10  /* what is left of the flow fits its window */
#define SHIM_INC 0x20   /* the sender may take more */
#define SHIM_DEC 0x40   /* a switch has told the sender to take less */
#define SHIM_AGAIN 0x80 /* sent before, under the same number */
#define TRIMMED 0x01 /* of the record of a packet that has arrived: only its headers have */

#define FIRST_PORT 0xc000 /* RoCEv2 takes source ports from the dynamic range, for ECMP's sake */
#define ENTROPY_BITS 14
#define ENTROPIES (1 << ENTROPY_BITS) /* ports of that range */
#define ASKED_BITS 17 /* of packets that a flow wants to have been granted; one more: tell it again */

/* Whether packets of a flow may take several paths: programs and agents have a variant for it, so that others pay nothing. */
#ifndef MANY_PATHS
#define MANY_PATHS 0
#endif

/* Whether ports have several queues: NICs and ports have a variant for it, for the same reason. */
#ifndef CLASSES
#define CLASSES 0
#endif

/* Whether these share the memory of their switch; with classes only. */
#ifndef POOL
#define POOL 0
#endif

/*
 * Who chooses the paths of a flow's packets, if it is not the hash of addresses and ports. Valiant's are those of the virtual
 * engine alone, for whose programs they are sprayed.
 */
enum routing { BY_HASH, BY_SENDER, SPRAYED, BY_FLOWLET, ADAPTIVE, VALIANT };

/* What follows from a lost packet: its payload goes on in another one, or numbers (PSN) name data, as a NIC's do. */
enum recovery { PER_PACKET, GO_BACK_N, SELECTIVE_REPEAT };

#define MOST_AHEAD 2048 /* packets that a receiver can keep behind a missing one (selective repeat) */

#define INT_DOMAIN 0x7B /* our domain-specific metadata; any number that no other domain here uses */
#define INT_ALL 0xF800   /* domain-specific instructions: node, queue, time, bytes, rate */
#define MAX_HOPS 8
#define QP_BASE 0x100 /* queue pair number of flow 0; the low numbers are special in InfiniBand */

struct shim {
	__be64 tx_ns;   /* sender NIC's clock when the packet left */
	/* The next two are echoed, but where numbers name data: the sender knows them, and an answer has others there. */
	/* bytes of the data packet, Ethernet header included, or, with credits, packets that have left; CE marks that were not told yet */
	__be16 frame;
	__be16 payload; /* bytes of user data in it; by how much the packet that is kept is ahead of the missing one */
	__u8 ttl;       /* ACK only: TTL with which the data packet arrived */
	__u8 flags;
	__be16 ingress; /* ifindex of the ingress port of the switch that it is queued in; 0 without PFC */
} __attribute__((packed));

struct roce {
	__u8 dst_mac[6];
	__u8 src_mac[6];
	__be16 ethertype;
	__u8 version_ihl;
	__u8 tos;
	__be16 ip_len;
	__be16 ip_id;
	__be16 ip_frag;
	__u8 ttl;
	__u8 protocol;
	__be16 ip_csum;
	__be32 src_ip;
	__be32 dst_ip;
	__be16 src_port;
	__be16 dst_port;
	__be16 udp_len;
	__be16 udp_csum;
	__u8 opcode;
	__u8 bth_flags;
	__be16 pkey;
	__be32 qp;  /* FECN, BECN, 6 reserved bits, destination QP (24 bits) */
	__be32 psn; /* AckReq, 7 reserved bits, PSN (24 bits) */
	__be32 imm; /* ImmDt of a data packet: its entropy, where senders choose paths, and above it what it asks for, where
		     * receivers grant credits; AETH of an ACK */
	struct shim shim;
} __attribute__((packed));

/* INT-MD 2.1 (P4.org Applications WG, 2020-11): shim and metadata header, then one record per hop in path order. The
 * wide fields are domain-specific metadata. */
struct int_header {
	__u8 type;      /* shim: type 1 (INT-MD) in the high nibble */
	__u8 length;    /* shim: words that follow the shim */
	__be16 npt;
	__be32 version; /* version 2 | D E M | reserved | hop length in words (5 bits) | remaining hops (8 bits) */
	__be16 instructions;
	__be16 domain;
	__be16 domain_instructions;
	__be16 domain_flags;
} __attribute__((packed));

struct int_hop {
	__be32 node;  /* switch number << 16 | port number */
	__be32 queue; /* bytes in the port's queue before this packet */
	__be64 ts_ns; /* switch clock at that moment */
	__be64 tx_bytes; /* bytes dequeued by the port until then */
	__be32 rate;  /* kbit/s */
} __attribute__((packed));

#define INT_OFFSET sizeof(struct roce)
#define HOPS_OFFSET (INT_OFFSET + sizeof(struct int_header))
#define ICRC_SIZE 4
#define RETH_SIZE 16

/* One feedback record in the ring buffer of an agent: host byte order. */
struct record_hop {
	__u64 ts_ns;
	__u64 tx_bytes;
	__u32 node;
	__u32 queue;
	__u32 rate;
	__u32 reserved;
};

struct record {
	__u64 rx_ns; /* when the ACK or CNP reached the sender's NIC */
	__u64 tx_ns; /* echoed: when the data packet left it; 0 for a CNP */
	__u32 flow;
	__u32 psn; /* 24 bits */
	/* The next two as in the shim. Of a data packet, for whoever grants credits: `payload`, and in `ttl` its higher bits, are
	 * what it asks for, and `psn` is what has left where numbers name data. */
	__u16 frame;
	__u16 payload;
	__u8 opcode; /* of the BTH; AETH_NAK or AETH_TRIMMED for an ACK that is one */
	__u8 flags; /* of the shim */
	__u8 ttl;
	__u8 hops;
	struct record_hop hop[MAX_HOPS];
};

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
	__u32 trim_tos; /* of what is left of trimmed packets; 0 for none */
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

#define ETH_P_PAUSE 0x8808 /* MAC control */
#define PFC_OPCODE 0x0101
#define LOSSLESS 3 /* the priority of data; ACKs and CNPs have others and are never paused */
#define LOSSLESS_CLASS 0x00020001 /* where data waits at a port that has a gate; see testbed/engines/kernel/rack/gate.py */

/* IEEE 802.1Qbb. Pause times are in quanta of 512 bit times; 0 ends a pause. */
struct pfc_frame {
	__u8 dst_mac[6];
	__u8 src_mac[6];
	__be16 ethertype;
	__be16 opcode;
	__be16 classes; /* bit i: priority i is meant */
	__be16 quanta[8];
	__be64 ns; /* padding, which hardware ignores: wall time at which the threshold was crossed */
	__u8 padding[18];
} __attribute__((packed));

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

/* For testbed.engines.kernel.pfc.generator. */
struct pause_event {
	__u64 ns;
	__u32 port; /* ifindex */
	__u32 what;
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
