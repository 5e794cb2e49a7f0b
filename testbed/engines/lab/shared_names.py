"""What rollouts (`ansible/module_utils/lab_settings`, which has a link to this file) and the exporter call alike.

Ansible sends it to hosts that have no testbed: it needs the standard library only.
"""

ROLLOUT = "/etc/testbed/rollout.json"  # what the last rollout wants of a host
STATE = "/var/lib/testbed/state.json"  # how far that rollout is
PCC_LOGS = "/run/testbed/pcc"  # DEVICE.log and DEVICE.pid of PCC programs
GROUP = "testbed"  # the exporter's, which may read the first two

DEBUGFS = {
    "roce_rp/clamp_tgt_rate": "rp_clamp_tgt_rate",
    "roce_rp/clamp_tgt_rate_after_time_inc": "rp_clamp_tgt_rate_ati",
    "roce_rp/rpg_time_reset": "rp_time_reset",
    "roce_rp/rpg_byte_reset": "rp_byte_reset",
    "roce_rp/rpg_threshold": "rp_threshold",
    "roce_rp/rpg_max_rate": "rp_max_rate",
    "roce_rp/rpg_ai_rate": "rp_ai_rate",
    "roce_rp/rpg_hai_rate": "rp_hai_rate",
    "roce_rp/rpg_gd": "rp_gd",
    "roce_rp/rpg_min_dec_fac": "rp_min_dec_fac",
    "roce_rp/rpg_min_rate": "rp_min_rate",
    "roce_rp/rate_to_set_on_first_cnp": "rp_rate_to_set_on_first_cnp",
    "roce_rp/dce_tcp_g": "rp_dce_tcp_g",
    "roce_rp/dce_tcp_rtt": "rp_dce_tcp_rtt",
    "roce_rp/rate_reduce_monitor_period": "rp_rate_reduce_monitor_period",
    "roce_rp/initial_alpha_value": "rp_initial_alpha_value",
    "roce_np/min_time_between_cnps": "np_min_time_between_cnps",
    "roce_np/cnp_dscp": "np_cnp_dscp",
    "roce_np/cnp_802p_prio": "np_cnp_prio",
}
"""DCQCN's parameters in MLNX_OFED's sysfs, and in mainline's debugfs (drivers/infiniband/hw/mlx5/cong.c)."""
