"""Settings, the workspace and OpenClaw's folders."""
