"""The name and the version of this package."""

__version__ = "0.1.0"

#: The name under which every host knows this memory: OpenClaw's plugin id, and the MCP server's name.
NAME = "openclaw-memory"
#: The name of the package where packages are installed from.
DISTRIBUTION = "openclaw-memory-graph"
