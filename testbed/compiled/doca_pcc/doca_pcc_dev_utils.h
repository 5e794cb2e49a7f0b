/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with 16 bits of fraction. How the card's instructions round is not published; here they cut off. */
#ifndef DOCA_PCC_DEV_UTILS_H
#define DOCA_PCC_DEV_UTILS_H

#include "doca_pcc_dev_common.h"

#define doca_pcc_dev_fls(a) (32 - __builtin_clz(a))
#define doca_pcc_dev_mult(a, b) ((uint64_t)(a) * (uint64_t)(b))
#define doca_pcc_dev_fxp_mult(a, b) ((uint32_t)(doca_pcc_dev_mult((a), (b)) >> 16))
#define doca_pcc_dev_fence_all() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define doca_pcc_dev_fence_memory() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define doca_pcc_dev_fence_io() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define doca_pcc_dev_fence_w_r() __atomic_thread_fence(__ATOMIC_SEQ_CST)

uint32_t doca_pcc_dev_fxp_recip(uint32_t a);
uint32_t doca_pcc_dev_fxp_power2(uint32_t a);
uint32_t doca_pcc_dev_fxp_log2(uint32_t a);
uint64_t doca_pcc_dev_get_timer(void); /* us */
uint32_t doca_pcc_dev_get_timer_lo(void);

#endif
