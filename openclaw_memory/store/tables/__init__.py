"""The part of a store that both databases share: tables and their SQL."""
