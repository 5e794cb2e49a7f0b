"""Training `aurora`: stable-baselines3's PPO in the gym, where the machine code that will decide also observes.

The gym tells a flow once per RTT what came back, so that the slope within an interval is 0 here. Aurora fills the
buffer, where an RTT is 50 base RTTs; the model's step is a quarter of one.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecNormalize
from torch import nn

from testbed.sdk.gym import make
from testbed.sdk.gym.joined import JoinedFlows

from ..learned.network import Layers
from .aurora import FEATURES, HIDDEN
from .settings import AuroraSettings
from .train_ppo import layers

EPOCHS, MINIBATCHES, LAMBDA, DEVIATION = 4, 4, 0.95, -0.5
STEP = "2 us"
Told = Callable[[int, float, Layers], None]  # decisions made, mean reward, the network


def train(settings: AuroraSettings, told: Told, folder: Path) -> Layers:
    """The trained network, whose output is the mean of the actions. ``folder``: for a file that is not kept."""
    torch.set_num_threads(1)
    sizes = list(pairwise((FEATURES, *HIDDEN, 1)))
    nothing = Layers(tuple(np.zeros((b, a)) for a, b in sizes), tuple(np.zeros(b) for _, b in sizes), "tanh")
    file = folder / "untrained.json"
    nothing.save(file)
    said = [
        f"time.duration={settings.episode} s", "time.warmup=0 s", f"fluid.step={STEP}", f"controller.policy={file}",
        f"controller.start_rate={settings.start_rate}", f"controller.reward={settings.reward}",
    ]  # fmt: skip
    parts = [make("incast-2", controller="aurora", settings=[f"traffic.senders={n}", *said]) for n in settings.senders]
    joined = JoinedFlows(parts)
    env = VecNormalize(joined, norm_obs=False, gamma=settings.gamma)
    model = PPO(
        "MlpPolicy", env, n_steps=settings.rollout, batch_size=settings.rollout * joined.num_envs // MINIBATCHES,
        n_epochs=EPOCHS, learning_rate=settings.learning_rate, gamma=settings.gamma, gae_lambda=LAMBDA,
        seed=settings.seed, device="cpu",
        policy_kwargs={"net_arch": list(HIDDEN), "activation_fn": nn.Tanh, "log_std_init": DEVIATION},
    )  # fmt: skip
    model.learn(settings.decisions, callback=_Teller(told))
    env.close()
    file.unlink()
    return layers(model, "tanh")


class _Teller(BaseCallback):
    """Says how far it is, after each rollout."""

    model: PPO

    def __init__(self, told: Told) -> None:
        super().__init__()
        self.told = told

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        env = self.training_env
        assert isinstance(env, VecNormalize)
        rewards = self.model.rollout_buffer.rewards.mean() * np.sqrt(env.ret_rms.var + env.epsilon)
        self.told(self.num_timesteps, float(rewards), layers(self.model, "tanh"))
