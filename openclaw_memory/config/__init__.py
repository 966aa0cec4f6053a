"""Settings, the workspace, OpenClaw's folders: what is known before anything is read."""
