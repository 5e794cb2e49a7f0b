/* SPDX-License-Identifier: Apache-2.0 */
/* What host/main.c uses of DOCA, written from its documentation, to run it without a card (doca_host.c). */
#ifndef DOCA_ERROR_STUB_H
#define DOCA_ERROR_STUB_H

typedef enum { DOCA_SUCCESS = 0, DOCA_ERROR_NOT_SUPPORTED = 7, DOCA_ERROR_AGAIN = 10 } doca_error_t;

const char *doca_error_get_descr(doca_error_t error);

#endif
