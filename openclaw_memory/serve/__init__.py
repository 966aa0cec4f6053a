"""The MCP server: one process on stdio for any number of agents and workspaces."""
