"""The command line: one file a group of commands, nothing heavy imported before it is needed."""
