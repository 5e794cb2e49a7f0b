/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * The flows of the sending hosts: the NICs' counters, to which ports add the SRCs that they send.
 */
#ifndef TESTBED_FLOWS_BPF_H
#define TESTBED_FLOWS_BPF_H

#include "roce.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct flow_tx);
} flows_tx SEC(".maps");

#endif
