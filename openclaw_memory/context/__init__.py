"""What is relevant to a message, said before the model speaks."""
