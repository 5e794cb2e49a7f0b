/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
 *
 * What the parts of the NIC's program share.
 */
#ifndef TESTBED_NIC_BPF_H
#define TESTBED_NIC_BPF_H

#include "flows.bpf.h"

const volatile struct nic_settings settings = {};

#endif
