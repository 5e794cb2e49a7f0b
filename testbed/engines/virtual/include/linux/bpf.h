/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for the kernel's <linux/bpf.h> where the programs are compiled natively: what of it they use. Pointers are as
 * wide as this machine's.
 */
#ifndef TESTBED_LINUX_BPF_H
#define TESTBED_LINUX_BPF_H

#include <linux/types.h>

struct __sk_buff {
	__u32 len;
	__u32 protocol;
	__u32 priority;
	__u32 ifindex;
	__u32 ingress_ifindex;
	__u32 mark;
	__u64 data;
	__u64 data_end; /* of the headers: payloads are not kept */
#if MANY_PATHS
	__u32 hash; /* 0 for none */
#endif
};

#define GSO 0 /* every packet is by itself */

struct bpf_spin_lock {
	__u32 val;
};

#define BPF_F_INVALIDATE_HASH 0 /* nobody keeps a hash */
#define BPF_F_INGRESS 1
#define BPF_NOEXIST 1

#define BPF_MAP_TYPE_HASH 1
#define BPF_MAP_TYPE_ARRAY 2
#define BPF_MAP_TYPE_ARRAY_OF_MAPS 12
#define BPF_MAP_TYPE_RINGBUF 27
#define BPF_F_MMAPABLE 1024

#endif
