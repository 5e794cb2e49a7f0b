/* SPDX-License-Identifier: Apache-2.0 */
/*
 * INT in the answer to a probe: the 12 bytes of NVIDIA's telemetry example, which the receiver's program
 * (np/switch_telemetry of doca-samples) puts there. The queue in units of 256 bytes, the hop and whether it is valid; then
 * two counters, bytes and ns.
 */
#ifndef TELEMETRY_H
#define TELEMETRY_H

#include <doca_pcc_dev_event.h>

#include "controller.h"

static inline struct telemetry telemetry(doca_pcc_dev_event_t *event)
{
	const uint32_t *words = (const uint32_t *)(const void *)doca_pcc_dev_get_rtt_raw_data(event);

	return (struct telemetry){words[0] >> 26 & 1, words[0] >> 16 & 7, (words[0] & 0xffff) << 8, words[1], words[2]};
}

#endif
