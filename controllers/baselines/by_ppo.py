"""Training by stable-baselines3's PPO: `ppo` and `aurora`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv, VecNormalize
from torch import nn

from testbed.base.arrays import Floats
from testbed.sdk.gym.joined import JoinedFlows
from testbed.sdk.gym.vector import VectorFlows

from ..learned.network import Kind, Layers
from .incasts import Choices
from .settings import PpoSettings

CLIP, VALUE, MOST_NORM, LAMBDA = 0.2, 0.5, 0.5, 1.0
HIDDEN = (32, 16)
Told = Callable[[int, float, float], None]  # decisions made, mean reward, mean action of the last rollout


def train(
    parts: Sequence[VectorFlows], settings: PpoSettings, hidden: Kind, told: Told, choices: Sequence[float] = ()
) -> Layers:
    """The trained network. ``choices`` between actions; without, actions are from a normal distribution."""
    torch.set_num_threads(1)
    joined: VecEnv = JoinedFlows(parts)
    env = Choices(joined, choices) if choices else VecNormalize(joined, norm_obs=False, gamma=settings.gamma)
    model = PPO(
        "MlpPolicy",
        env,
        n_steps=settings.rollout,
        batch_size=settings.rollout * env.num_envs // settings.minibatches,
        n_epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        gamma=settings.gamma,
        gae_lambda=LAMBDA,
        clip_range=CLIP,
        ent_coef=settings.entropy,
        vf_coef=VALUE,
        max_grad_norm=MOST_NORM,
        seed=settings.seed,
        device="cpu",
        policy_kwargs={"net_arch": list(HIDDEN), "activation_fn": nn.Tanh if hidden == "tanh" else nn.ReLU},
    )
    model.learn(settings.decisions, callback=_Teller(told, np.array(choices)))
    env.close()
    return layers(model, hidden)


def layers(model: PPO, hidden: Kind) -> Layers:
    """The policy's network."""
    found = [one for one in model.policy.mlp_extractor.policy_net if isinstance(one, nn.Linear)]
    found.append(model.policy.action_net)
    arrays = [(one.weight.detach().numpy().astype(float), one.bias.detach().numpy().astype(float)) for one in found]
    weights, biases = zip(*arrays, strict=True)
    return Layers(weights, biases, hidden)


class _Teller(BaseCallback):
    """Says how far it is, after each rollout."""

    def __init__(self, told: Told, choices: Floats) -> None:
        super().__init__()
        self.told, self.choices = told, choices

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        buffer = self.model.rollout_buffer  # type: ignore[attr-defined] # of PPO
        rewards = buffer.rewards
        if isinstance(self.training_env, VecNormalize):
            rewards = rewards * np.sqrt(self.training_env.ret_rms.var + self.training_env.epsilon)
        actions = self.choices[buffer.actions.astype(int)] if len(self.choices) else buffer.actions
        self.told(self.num_timesteps, float(rewards.mean()), float(actions.mean()))
