/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DOCA_DEV_STUB_H
#define DOCA_DEV_STUB_H

#include <stdint.h>

#include "doca_error.h"

struct doca_dev;
struct doca_devinfo;

doca_error_t doca_devinfo_create_list(struct doca_devinfo ***list, uint32_t *count);
doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **list);
doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *info, char *name, uint32_t size);
doca_error_t doca_dev_open(struct doca_devinfo *info, struct doca_dev **device);
doca_error_t doca_dev_close(struct doca_dev *device);

#endif
