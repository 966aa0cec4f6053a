"""Read other memories beside an agent's own: a team's, another agent's, or that of the agent that started this one."""
