"""What was shown, opened, quoted and judged, and what that makes of a score."""
