"""Usage of units (shown, opened, quoted, judged), and the boosts of scores that follow from it."""
