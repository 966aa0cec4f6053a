"""When consolidation runs by itself; what the memory holds and what is wrong with it."""
