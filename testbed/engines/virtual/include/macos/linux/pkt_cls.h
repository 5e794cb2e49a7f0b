/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for Linux's <linux/pkt_cls.h> where that is not: what programs of the traffic control answer.
 */
#ifndef TESTBED_LINUX_PKT_CLS_H
#define TESTBED_LINUX_PKT_CLS_H

#define TC_ACT_UNSPEC (-1)
#define TC_ACT_OK 0
#define TC_ACT_SHOT 2
#define TC_ACT_REDIRECT 7

#endif
