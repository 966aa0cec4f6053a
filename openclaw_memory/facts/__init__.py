"""Facts: what notes and agents state about a subject, with history."""
