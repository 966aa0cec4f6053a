"""What a text mentions and states, and the two files in which people and agents say so."""
