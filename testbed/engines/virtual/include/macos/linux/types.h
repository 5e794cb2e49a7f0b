/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for Linux's <linux/types.h> where that is not: what of it the programs use.
 */
#ifndef TESTBED_LINUX_TYPES_H
#define TESTBED_LINUX_TYPES_H

#include <stdint.h>

typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef unsigned long long __u64;
typedef int32_t __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;

#endif
