"""The host's end of a lab run (`testbed agent`): the interface, the NIC programs, the agent, and its reports."""
