/* SPDX-License-Identifier: Apache-2.0 */
#include "doca_pcc_dev.h"
