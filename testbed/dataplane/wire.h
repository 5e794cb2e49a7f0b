/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * The packet on the wire, and the records of feedback that agents read. wire.py mirrors this file and maps.h;
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

#define ETH_P_PAUSE 0x8808 /* MAC control */
#define PFC_OPCODE 0x0101

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

#endif
