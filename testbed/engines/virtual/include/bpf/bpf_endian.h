/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTBED_BPF_ENDIAN_H
#define TESTBED_BPF_ENDIAN_H

#include <endian.h>

#define bpf_htons htobe16
#define bpf_ntohs be16toh
#define bpf_htonl htobe32
#define bpf_ntohl be32toh
#define bpf_cpu_to_be64 htobe64
#define bpf_be64_to_cpu be64toh

#endif
