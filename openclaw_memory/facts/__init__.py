"""Facts about subjects, extracted from notes or stated by agents, with their history."""
