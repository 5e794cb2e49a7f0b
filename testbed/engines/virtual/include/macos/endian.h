/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for <endian.h>, which only Linux and the BSDs have. Macs are little-endian.
 */
#ifndef TESTBED_ENDIAN_H
#define TESTBED_ENDIAN_H

#define htobe16 __builtin_bswap16
#define be16toh __builtin_bswap16
#define htobe32 __builtin_bswap32
#define be32toh __builtin_bswap32
#define htobe64 __builtin_bswap64
#define be64toh __builtin_bswap64

#endif
