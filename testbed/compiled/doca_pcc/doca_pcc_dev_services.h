/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DOCA_PCC_DEV_SERVICES_H
#define DOCA_PCC_DEV_SERVICES_H

#include "doca_pcc_dev_common.h"

void doca_pcc_dev_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
void doca_pcc_dev_trace_5(int format_id, uint64_t arg1, uint64_t arg2, uint64_t arg3, uint64_t arg4, uint64_t arg5);
void doca_pcc_dev_trace_flush(void);
unsigned int doca_pcc_dev_thread_rank(void);

#endif
