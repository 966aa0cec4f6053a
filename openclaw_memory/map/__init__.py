"""The memory as a picture: one HTML file that a browser opens without a network."""
