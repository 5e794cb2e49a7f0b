/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DOCA's host side without a card: one device mlx5_0, states from STATES (one digit per look, the last one stays), a
 * look every 20 ms; says on stderr what was called. UNSUPPORTED and REFUSES_START in the environment make it fail.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doca_pcc.h"

static int there, app, looks;
static struct doca_devinfo *infos[] = {(struct doca_devinfo *)&there};
struct doca_pcc_app *testbed_pcc_app = (struct doca_pcc_app *)&app;

static doca_error_t said(const char *what)
{
	fprintf(stderr, "%s\n", what);
	return DOCA_SUCCESS;
}

const char *doca_error_get_descr(doca_error_t error)
{
	return error == DOCA_ERROR_NOT_SUPPORTED ? "not supported" : "another error";
}

doca_error_t doca_devinfo_create_list(struct doca_devinfo ***list, uint32_t *count)
{
	*list = infos;
	*count = 1;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **list)
{
	return list == infos ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *info, char *name, uint32_t size)
{
	(void)info;
	snprintf(name, size, "mlx5_0");
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_is_pcc_supported(const struct doca_devinfo *info, uint8_t *supported)
{
	(void)info;
	*supported = getenv("UNSUPPORTED") == NULL;
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_open(struct doca_devinfo *info, struct doca_dev **device)
{
	*device = (struct doca_dev *)info;
	return said("opened");
}

doca_error_t doca_dev_close(struct doca_dev *device)
{
	(void)device;
	return said("closed");
}

doca_error_t doca_pcc_create(struct doca_dev *device, struct doca_pcc **pcc)
{
	*pcc = (struct doca_pcc *)device;
	return said("created");
}

doca_error_t doca_pcc_destroy(struct doca_pcc *pcc)
{
	(void)pcc;
	return said("destroyed");
}

doca_error_t doca_pcc_start(struct doca_pcc *pcc)
{
	(void)pcc;
	if (getenv("REFUSES_START"))
		return DOCA_ERROR_NOT_SUPPORTED;
	return said("started");
}

doca_error_t doca_pcc_stop(struct doca_pcc *pcc)
{
	(void)pcc;
	return said("stopped");
}

doca_error_t doca_pcc_set_app(struct doca_pcc *pcc, struct doca_pcc_app *given)
{
	(void)pcc;
	return given == testbed_pcc_app ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_pcc_get_min_num_threads(struct doca_pcc *pcc, uint32_t *least)
{
	(void)pcc;
	*least = 1;
	return DOCA_SUCCESS;
}

doca_error_t doca_pcc_get_max_num_threads(struct doca_pcc *pcc, uint32_t *most)
{
	(void)pcc;
	*most = 16;
	return DOCA_SUCCESS;
}

doca_error_t doca_pcc_set_thread_affinity(struct doca_pcc *pcc, uint32_t count, uint32_t *units)
{
	(void)pcc;
	for (uint32_t i = 0; i < count; i++)
		fprintf(stderr, "unit %u\n", units[i]);
	return DOCA_SUCCESS;
}

doca_error_t doca_pcc_set_ccmad_probe_packet_format(struct doca_pcc *pcc, uint32_t slot)
{
	(void)pcc;
	return slot == 0 ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_pcc_rp_set_ccmad_remote_sw_handler(struct doca_pcc *pcc, uint32_t slot, bool handled)
{
	(void)pcc;
	return slot == 0 && !handled ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_pcc_get_process_state(const struct doca_pcc *pcc, doca_pcc_process_state_t *state)
{
	const char *states = getenv("STATES") ? getenv("STATES") : "0";
	const int last = (int)strlen(states) - 1;

	(void)pcc;
	*state = (doca_pcc_process_state_t)(states[looks < last ? looks : last] - '0');
	looks++;
	return DOCA_SUCCESS;
}

doca_error_t doca_pcc_wait(struct doca_pcc *pcc, int seconds)
{
	(void)pcc;
	(void)seconds;
	usleep(20000);
	return DOCA_SUCCESS;
}
