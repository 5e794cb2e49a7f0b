"""What learned tuners share: actions, observation, the model that they are trained in, and policy files."""
