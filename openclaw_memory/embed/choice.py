"""Which model ``embedding.model: auto`` stands for: that for English, or one that knows many languages."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..errors import OpenClawMemoryError
from ..store.api import ModelChoice, Store
from ..system.deadline import Deadline
from . import registry

#: Seconds to wait for an index that another process holds.
_PATIENCE = 1.0
#: Share of the notes in other languages than English from which on they need a model that knows many.
FOREIGN = 0.2


class Choice:
    """The model of one memory, chosen by the languages of its notes.

    It is noted in the index, so that a question need not look at the notes, and all processes agree.  ``foreign`` is
    the share of the notes in other languages than English, in [0, 1].  What was chosen for many languages stays.  Safe
    to use from several threads.
    """

    def __init__(self, store: Store, foreign: Callable[[], float]) -> None:
        self._store = store
        self._foreign = foreign
        self._name: str | None = None
        self._lock = threading.Lock()

    def name(self) -> str:
        """What the registry calls the model; where the index cannot be read, what the notes say."""
        with self._lock:
            if self._name is None:
                try:
                    with self._store.patience(Deadline.after(_PATIENCE)):
                        noted = self._store.model_choice()
                except OpenClawMemoryError:
                    return self._found()  # whoever reads the index says so
                self._name = self._found() if noted is None else noted.name
            return self._name

    def review(self, units: int) -> bool:
        """Look at the notes again when there are twice as many ``units`` as when the model was chosen.

        Returns whether it is another one now.
        """
        with self._lock:
            before, noted = self._name, self._store.model_choice()
            if noted is not None and (noted.name == registry.MULTILINGUAL.name or units < 2 * noted.units):
                self._name = noted.name
            elif units:
                self._name = self._found()
                self._store.put_model_choice(ModelChoice(self._name, units))
            return before not in (None, self._name)

    def _found(self) -> str:
        return (registry.MULTILINGUAL if self._foreign() >= FOREIGN else registry.DEFAULT).name
