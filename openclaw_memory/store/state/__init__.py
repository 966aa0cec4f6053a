"""Records of people and agents that are in no note: one SQLite file a workspace, its keys elsewhere."""

from .database import State, StateError

__all__ = ["State", "StateError"]
