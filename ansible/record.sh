#!/bin/sh
# What a host's card says, as fixtures of the fakes: IF=eth2 PCI=0000:03:00.0 DEV=mlx5_0 sh record.sh (docs/howto/runbook.md).
mkdir -p fixtures/$(hostname); cd fixtures/$(hostname)
devlink dev info -j > devlink.json
# with the mainline driver: mstconfig and mstreg instead of mlxconfig and mlxreg, and there is no mlnx_qos
mlxconfig -d $PCI -e q > mlxconfig.txt;  mlxconfig -d $PCI -j mlxconfig.json -e query
mlnx_qos -i $IF > mlnx_qos.txt
dcb -j pfc show dev $IF > dcb-pfc.json;  dcb -j -N app show dev $IF dscp-prio > dcb-app.json
ethtool -S $IF > ethtool.txt;  ethtool -i $IF > driver.txt
grep -r . /sys/class/net/$IF/ecn > ecn.txt;  grep -r . /sys/kernel/debug/mlx5/$PCI/cc_params > cc_params.txt
grep -r . /sys/class/infiniband/$DEV/ports/1/hw_counters > hw_counters.txt
for slot in $(seq 0 15); do for command in 0 3 4 0xa; do
  mlxreg -d $PCI -y --get --reg_name PPCC --op "cmd_type=$command" \
    --indexes "local_port=1,pnat=0,lp_msb=0,algo_slot=$slot,algo_param_index=0"
done; done > ppcc.txt 2>&1
mlxreg -d $PCI -y --get --reg_name PPCC --op "cmd_type=0x10" \
  --indexes "local_port=1,pnat=0,lp_msb=0,algo_slot=0,algo_param_index=0" > ppcc-algorithms.txt
