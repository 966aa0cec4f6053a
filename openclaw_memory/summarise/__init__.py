"""Consolidation: old notes become summaries of days, weeks, months, quarters and years."""
