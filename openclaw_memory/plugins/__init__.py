"""Plugins that come with the package and register through the same hooks as any other."""
