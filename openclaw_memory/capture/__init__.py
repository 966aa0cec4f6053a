"""Select the sentences of a finished turn that are new and worth keeping, and write them to a note."""
