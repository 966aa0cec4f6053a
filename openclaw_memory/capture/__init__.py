"""Keep the new sentences of finished turns that are worth it."""
