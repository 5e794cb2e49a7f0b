/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DOCA_PCC_STUB_H
#define DOCA_PCC_STUB_H

#include <stdbool.h>
#include <stdint.h>

#include "doca_dev.h"

struct doca_pcc;
struct doca_pcc_app;

typedef enum {
	DOCA_PCC_PS_ACTIVE = 0,
	DOCA_PCC_PS_STANDBY = 1,
	DOCA_PCC_PS_DEACTIVATED = 2,
	DOCA_PCC_PS_ERROR = 3
} doca_pcc_process_state_t;

doca_error_t doca_devinfo_get_is_pcc_supported(const struct doca_devinfo *info, uint8_t *supported);
doca_error_t doca_pcc_create(struct doca_dev *device, struct doca_pcc **pcc);
doca_error_t doca_pcc_destroy(struct doca_pcc *pcc);
doca_error_t doca_pcc_start(struct doca_pcc *pcc);
doca_error_t doca_pcc_stop(struct doca_pcc *pcc);
doca_error_t doca_pcc_set_app(struct doca_pcc *pcc, struct doca_pcc_app *app);
doca_error_t doca_pcc_get_min_num_threads(struct doca_pcc *pcc, uint32_t *least);
doca_error_t doca_pcc_get_max_num_threads(struct doca_pcc *pcc, uint32_t *most);
doca_error_t doca_pcc_set_thread_affinity(struct doca_pcc *pcc, uint32_t count, uint32_t *units);
doca_error_t doca_pcc_set_ccmad_probe_packet_format(struct doca_pcc *pcc, uint32_t slot);
doca_error_t doca_pcc_rp_set_ccmad_remote_sw_handler(struct doca_pcc *pcc, uint32_t slot, bool handled);
doca_error_t doca_pcc_get_process_state(const struct doca_pcc *pcc, doca_pcc_process_state_t *state);
doca_error_t doca_pcc_wait(struct doca_pcc *pcc, int seconds);

#endif
