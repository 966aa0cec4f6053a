"""Files and locks, child processes, YAML that is edited in place, JSON, output that moves no terminal."""
