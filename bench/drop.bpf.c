// SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
/* A receiver that only counts: what the switch's queue model must know, and nothing else. */
#include "roce.bpf.h"

SEC("tc")
int drop(struct __sk_buff *skb)
{
	count_arrival(skb, 1);
	return TC_ACT_SHOT;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
