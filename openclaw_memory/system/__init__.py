"""Files and locks, child processes, editing of YAML, JSON, sanitized output."""
