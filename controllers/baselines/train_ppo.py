"""Training `ppo`: stable-baselines3's PPO, on the compiled rollouts of ADPG's own training.

There every incast begins anew at a time of its own, and a flow decides when its answer is back; a step of the gym is
one of all flows at once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3 import PPO
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.logger import configure
from torch import nn

from ..adpg.observation import FEATURES, HIGHEST_X, SCALE
from ..learned.network import Kind, Layers
from .multipliers import FACTORS, HIDDEN
from .rollouts import Exploring, Incasts, Played, actions
from .settings import PpoSettings

CLIP, VALUE, MOST_NORM, EPOCHS, MINIBATCHES, LAMBDA = 0.2, 0.5, 0.5, 4, 4, 1.0
Told = Callable[[int, float, Layers], None]


def train(settings: PpoSettings, told: Told) -> Layers:
    """The trained network, whose outputs are the factors' logits, or whose tanh is the mean of the actions."""
    torch.set_num_threads(1)
    normal = settings.action == "normal"
    incasts, model = Incasts(settings), _model(settings)
    policy = Exploring("vary" if normal else "choose", settings.seed)
    for update in range(settings.updates):
        now = layers(model, "relu")
        if normal:
            policy.deviate(float(model.policy.log_std.detach().exp()))
        policy.take(now)
        played = incasts.play(policy)
        told(update, float(played.rewards.mean()), now)
        model.rollout_buffer = remembered(model, played)
        model.batch_size = -(-len(played.rewards) // MINIBATCHES)
        model.train()
    return layers(model, "relu")


def _model(settings: PpoSettings) -> PPO:
    """Without an environment: it is given rollouts."""
    model = PPO(
        "MlpPolicy",
        None,  # type: ignore[arg-type] # allowed where nothing is set up
        n_steps=settings.rollout,
        n_epochs=EPOCHS,
        learning_rate=settings.learning_rate,
        gamma=settings.gamma,
        gae_lambda=LAMBDA,
        clip_range=CLIP,
        ent_coef=settings.entropy,
        vf_coef=VALUE,
        max_grad_norm=MOST_NORM,
        seed=settings.seed,
        device="cpu",
        policy_kwargs={"net_arch": list(HIDDEN), "activation_fn": nn.ReLU},
        _init_setup_model=False,
    )
    model.observation_space = spaces.Box(-SCALE, HIGHEST_X, (FEATURES,), np.float32)
    normal = settings.action == "normal"
    model.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32) if normal else spaces.Discrete(len(FACTORS))
    model.n_envs = 1
    model._setup_model()
    if normal:
        model.policy.action_net = nn.Sequential(model.policy.action_net, nn.Tanh())
    model.set_logger(configure(None, []))
    return model


def remembered(model: PPO, played: Played) -> RolloutBuffer:
    """The decisions as stable-baselines3 keeps them. Of a sequence that is cut short the rest is what PPO estimates."""
    size = len(played.rewards)
    buffer = RolloutBuffer(size, model.observation_space, model.action_space, "cpu", LAMBDA, model.gamma, n_envs=1)
    if isinstance(model.action_space, spaces.Discrete):
        chosen = np.abs(played.factors[:, None] - np.array(FACTORS)).argmin(axis=1)
    else:
        chosen = actions(played.factors).astype(np.float32)[:, None]
    with torch.no_grad():
        seen = torch.from_numpy(played.seen.astype(np.float32))
        values, likely, _ = model.policy.evaluate_actions(seen, torch.from_numpy(chosen))
        last = model.policy.predict_values(torch.from_numpy(played.after.astype(np.float32)))
    tails = played.tails(last.numpy()[:, 0].astype(float), model.gamma)
    buffer.observations[:, 0], buffer.actions[:, 0] = played.seen, chosen.reshape(size, -1)
    buffer.rewards[:, 0], buffer.returns[:, 0] = played.rewards, tails
    buffer.values[:, 0], buffer.log_probs[:, 0] = values.numpy()[:, 0], likely.numpy()
    buffer.advantages[:] = buffer.returns - buffer.values
    buffer.pos, buffer.full = size, True
    return buffer


def layers(model: PPO, hidden: Kind) -> Layers:
    """The policy's network."""
    parts = (*model.policy.mlp_extractor.policy_net.modules(), *model.policy.action_net.modules())
    found = [one for one in parts if isinstance(one, nn.Linear)]
    weights = tuple(one.weight.detach().numpy().astype(float) for one in found)
    return Layers(weights, tuple(one.bias.detach().numpy().astype(float) for one in found), hidden)
