"""The operator's end of a lab run: the hosts, the messages to them, and what they report as one observed run."""
