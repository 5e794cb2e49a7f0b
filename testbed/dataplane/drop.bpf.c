// SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
/* For `testbed selftest`: drops one ACK in sixteen before the NIC sees it, uncounted. */
#include "roce.bpf.h"

SEC("tc")
int drop(struct __sk_buff *skb)
{
	struct roce packet;

	if (read_roce(skb, &packet, bpf_htons(ROCE_PORT)) && packet.opcode == BTH_ACK && !(bpf_get_prandom_u32() & 15))
		return TC_ACT_SHOT;
	return TC_ACT_UNSPEC; /* on to the next program */
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
