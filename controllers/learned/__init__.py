"""What learned controllers share: policy files, boosted trees, bottlenecks to train on, gates."""
