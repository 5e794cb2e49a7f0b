// SPDX-License-Identifier: Apache-2.0
/* The agents' C and what ties it to a world, as one translation unit: a packet takes a dozen functions of several files. */
#include "../../agent/pace.c"
#include "../../agent/batch.c"
#include "../../agent/feedback.c"
#include "../../agent/paths.c"
#include "../../agent/recovery.c"
#include "../../agent/messages.c"
#include "../../agent/credits.c"
#include "../../agent/decisions.c"
#include "../../agent/core.c"
#include "../../agent/gather.c"
#include "../../agent/tasks.c"
#include "host.c"
