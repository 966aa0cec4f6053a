"""From Markdown files to units in the store: scan, parse, plan what changed, write, embed."""
