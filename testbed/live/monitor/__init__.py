"""Watching runs with Prometheus and Grafana: `testbed monitor up`, its dashboards and its configuration."""
