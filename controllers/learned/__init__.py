"""What learned controllers share: policy files, boosted trees."""
