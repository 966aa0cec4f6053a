"""What people and agents did that no note says: one SQLite file a workspace, and the key of its hashes elsewhere."""

from .database import State
from .schema import StateError

__all__ = ["State", "StateError"]
