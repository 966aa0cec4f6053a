"""Markdown to units of text with exact lines; sentences, terms, dates and periods in them."""
