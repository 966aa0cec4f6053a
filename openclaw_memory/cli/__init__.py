"""The command line: one file a group of commands, nothing heavy imported before it is needed."""

import gc

# The default of 700 new objects makes garbage collection a tenth of the time to load an index.
gc.set_threshold(200_000)
