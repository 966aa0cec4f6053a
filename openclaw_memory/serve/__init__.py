"""The MCP server: one process, on stdio or HTTP, for any number of agents and workspaces."""
