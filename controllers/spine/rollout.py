"""Episodes for PPO: the policy with noise in the training's environment."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from testbed.base.arrays import Floats

from .bottlenecks import Bottlenecks, Interval
from .flows import Flags, Flows
from .networks import Hierarchy, chance, density
from .ppo import Episode
from .training_settings import Settings

LEAVING = 0.5  # share of the bottlenecks of which half of the flows leave


class _Row(NamedTuple):
    """An interval of an episode, of all flows; shapes (k,) or (k, ...)."""

    seen: Tensor
    before: Tensor
    due: Tensor
    forced: Tensor
    triggered: Tensor
    drawn: Tensor
    log_chance: Tensor
    reward: Tensor


@torch.no_grad()
def rollout(settings: Settings, hierarchy: Hierarchy, rng: np.random.Generator, spread: float, always: bool) -> Episode:
    """An episode; half of the flows of some bottlenecks leave in it. ``always``: all intervals trigger."""
    senders = tuple(np.repeat(settings.senders, settings.copies).tolist())
    play = Bottlenecks(senders, rng)
    flows, interval = Flows(play), play.step()
    leaving = rng.integers(settings.intervals // 4, settings.intervals, len(senders))
    leaving[rng.random(len(senders)) > LEAVING] = -1
    rows, facts = [], [tensor(flows.facts(interval)).flatten(0, 1)]
    for number in range(settings.intervals):
        play.leave(leaving == number)
        seen, before, state = (tensor(one).flatten(0, 1) for one in (play.seen, flows.before, flows.state))
        due, forced = _flags(play.due), _flags(play.due & (flows.fresh | always))
        logit = hierarchy.watch(seen, before)
        triggered = forced | (due & (_noise(torch.rand, logit, settings, play) < torch.sigmoid(logit)))
        output, following = hierarchy.generate(seen, state)
        drawn = output + spread * _noise(torch.randn, output, settings, play)
        watched = torch.where(forced, 0.0, chance(logit, triggered.float()))
        generated = torch.where(triggered, density(output, drawn, spread), 0.0)
        taken = triggered.numpy().reshape(play.due.shape)
        flows.take(taken, _array(torch.sigmoid(drawn), play), _array(following, play))
        interval = play.step()
        facts.append(tensor(flows.facts(interval)).flatten(0, 1))
        reward = tensor(_value(settings, play, interval) - settings.cost * taken).flatten()
        rows.append(_Row(seen, before, due, forced, triggered, drawn, watched + generated, reward))
    columns = {name: torch.stack([getattr(row, name) for row in rows]) for name in _Row._fields}
    return Episode(facts=torch.stack(facts), spread=spread, **columns).of(columns["due"].any(0).nonzero()[:, 0])


def tensor(array: Floats) -> Tensor:
    """In torch's precision."""
    return torch.from_numpy(np.ascontiguousarray(array, np.float32))


def _flags(array: Flags) -> Tensor:
    return torch.from_numpy(array.reshape(-1))


def _array(one: Tensor, play: Bottlenecks) -> Floats:
    return np.asarray(one.numpy().reshape(*play.due.shape, -1), float)


def _noise(draw: Callable[[torch.Size], Tensor], like: Tensor, settings: Settings, play: Bottlenecks) -> Tensor:
    """Flows that share the reward share the noise: alone, each would drown in what the others try."""
    if settings.credit == "own":
        return draw(like.shape)
    m, width = play.due.shape
    return draw(torch.Size((m, 1, *like.shape[1:]))).expand(m, width, *like.shape[1:]).flatten(0, 1)


def _value(settings: Settings, play: Bottlenecks, interval: Interval) -> Floats:
    """Of an interval, for each flow."""
    if settings.credit == "shared":
        return np.broadcast_to(interval.value[:, None], play.due.shape)
    own = play.delivered / interval.inflation[:, None]
    return np.asarray(own - interval.loss[:, None])
