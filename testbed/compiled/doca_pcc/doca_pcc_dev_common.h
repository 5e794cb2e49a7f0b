/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device interface of DOCA PCC, so that programs for NVIDIA's cards can be compiled for the rack: the names, numbers
 * and types are those of the public headers (DOCA 3, BlueField-3), the text is testbed's own. card.c is behind it.
 */
#ifndef DOCA_PCC_DEV_COMMON_H
#define DOCA_PCC_DEV_COMMON_H

#include <stddef.h>
#include <stdint.h>

#define ALWAYS_INLINE __attribute__((always_inline))
#define FORCE_INLINE static inline ALWAYS_INLINE
#define DOCA_STABLE
#define DOCA_EXPERIMENTAL
#define DOCA_PCC_DEV_MAX_NUM_PORTS 4

typedef enum { DOCA_PCC_DEV_STATUS_OK, DOCA_PCC_DEV_STATUS_FAIL } doca_pcc_dev_error_t;

uint32_t doca_pcc_dev_get_logical_ports(void); /* a mask */
uint32_t doca_pcc_dev_get_port_speed(uint32_t portid); /* Gbit/s */
void doca_pcc_dev_user_port_info_changed(uint32_t portid) __attribute__((weak));

#endif
