#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles device/ with dpacc into one archive: build_device.sh ARCHIVE MCPU SOURCE...
# DOCA=/opt/mellanox/doca names where DOCA is; ATTRIBUTES=none leaves out the attributes, which DOCA before 3 wants.
set -eu

archive=$1 mcpu=$2
shift 2
doca=${DOCA:-/opt/mellanox/doca}
here=$(dirname "$0")
made=$(dirname "$archive")
libraries="-L$doca/lib/$(uname -m)-linux-gnu -L$doca/lib -ldoca_pcc_dev"
device="-O2,-ffreestanding,-Wall,-Wextra,-Werror,-Wdouble-promotion,-DFLEXIO_DEV_ALLOW_EXPERIMENTAL_API,-I$here/device,-I$doca/include"

if [ ! -x "$doca/tools/dpacc" ]; then
	echo "build_device.sh: there is no $doca/tools/dpacc; install the DOCA SDK, or say where it is: DOCA=..." >&2
	exit 1
fi
if [ "${ATTRIBUTES:-}" != none ]; then
	"$doca/tools/dpa-app-attributes2blob" "$here/attributes.yaml" "$made/attributes.blob"
	set -- "$@" "--dpa-proc-attr=$made/attributes.blob"
fi
exec "$doca/tools/dpacc" -o "$archive" -mcpu="$mcpu" -hostcc=gcc -hostcc-options="-Wno-deprecated-declarations -DFLEXIO_ALLOW_EXPERIMENTAL_API" \
	--devicecc-options="$device" -device-libs="$libraries" -flto --app-name=testbed_pcc_app "$@"
