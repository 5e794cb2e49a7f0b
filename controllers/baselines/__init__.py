"""What ADPG was compared with (Tessler et al., IAAI 2022, Table 2): policies of standard algorithms, on its incasts.

`aurora` (Jay et al., ICML 2019) and `ppo` are trained by stable-baselines3, `reinforce` here, with 2, 4 and 8 flows:
`aurora` in the gym (`testbed.sdk.gym`), the others in the rollouts of ADPG's own training. They are rows of a table, no
service to users: docs/explanation/learned.md says what they do, docs/findings/adpg.md why they fail.
"""

from .aurora import Aurora
from .multipliers import Ppo, Reinforce

__all__ = ["Aurora", "Ppo", "Reinforce"]
