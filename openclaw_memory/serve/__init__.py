"""The MCP server: one process on stdio that answers for any number of agents and workspaces."""
