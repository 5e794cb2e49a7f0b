"""Watching runs with Prometheus and Grafana: dashboards as code, provisioning, `testbed monitor up`.

`dashboards`, `panels` and `queries` write the JSON files that are checked in (``make dashboards``); they need
Grafana's own SDK, which is installed for development only. All else works with what is shipped.
"""
