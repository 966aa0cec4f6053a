"""Reading other memories beside one's own: a team's workspace, another agent's, that of the parent of a sub-agent."""
