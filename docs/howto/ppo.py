"""PPO of stable-baselines3 on ADPG's environment: 8 flows, some 5 s."""

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecNormalize

from testbed.sdk.gym import make

torch.set_num_threads(1)  # a small network is quicker so
SETTINGS = ["time.duration=1 ms", "time.warmup=50 us", "controller.start_rate=13 %"]  # 8 flows: 4 % too much


def mean_reward(policy):
    """Of one episode that is not trained on."""
    env = make("incast-8", controller="adpg-nn", settings=SETTINGS)
    env.seed(7)
    seen, rewards, over = env.reset(), [], False
    while not over:
        seen, reward, done, _ = env.step(policy(seen))
        rewards.append(reward.mean())
        over = done.all()
    env.close()
    return float(np.mean(rewards))


env = VecNormalize(make("incast-8", controller="adpg-nn", settings=SETTINGS), gamma=0.95)
model = PPO(
    "MlpPolicy",
    env,
    n_steps=128,
    batch_size=256,
    gamma=0.95,
    learning_rate=1e-3,
    seed=1,
    policy_kwargs={"log_std_init": -1.0, "net_arch": [32, 32]},
)
before = mean_reward(lambda seen: np.zeros((len(seen), 1)))
model.learn(6_000)
after = mean_reward(lambda seen: model.predict(env.normalize_obs(seen), deterministic=True)[0])
print(f"mean reward {before:.4f} -> {after:.4f}")
