"""As much of systemd as a rollout uses: units, timers and a journal, run by a node's process 1.

What differs from the real one: a unit's processes are known by their session instead of a control group (one that
calls setsid(2) escapes), sandboxing settings are read and not enforced, and of dependencies there are WantedBy= at
boot, After= among what is started together, and Wants=. A setting that it does not know is refused (`directives`). Of
udev there are rules that want units (`udev`): events come at boot and from `devlink dev reload`.
"""
