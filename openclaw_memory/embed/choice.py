"""Which model ``embedding.model: auto`` stands for: that for English, or one that knows many languages."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from ..errors import OpenClawMemoryError
from ..store.api import ModelChoice, Store
from ..system import atomic
from ..system.deadline import Deadline
from . import registry

#: Seconds to wait for an index that another process holds.
_PATIENCE = 1.0
#: Beside the index: the model that it names, which may begin to load before the index is open.
BESIDE = ".model"
#: Share of the notes in other languages than English from which on they need a model that knows many.
FOREIGN = 0.2


class Choice:
    """The model of one memory, chosen by the languages of its notes.

    It is noted in the index, so that a question need not look at the notes, and all processes agree.  ``foreign`` is
    the share of the notes in other languages than English, in [0, 1].  What was chosen for many languages stays.  Safe
    to use from several threads, and with the store held: it has no lock that one of them could wait for.
    """

    def __init__(self, store: Store, foreign: Callable[[], float]) -> None:
        self._store = store
        self._foreign = foreign
        self._name: str | None = None

    def expected(self) -> str | None:
        """What :meth:`name` will most likely be, without opening the index; ``None`` where nothing tells."""
        if self._name is None and (file := self._store.beside(BESIDE)) is not None:
            with suppress(OSError, ValueError):
                said = file.read_text(encoding="utf-8")
                return said if said in (registry.DEFAULT.name, registry.MULTILINGUAL.name) else None
        return self._name

    def name(self) -> str:
        """What the registry calls the model; where the index cannot be read, what the notes say."""
        if self._name is None:
            try:
                with self._store.patience(Deadline.after(_PATIENCE)):
                    noted = self._store.model_choice()
            except OpenClawMemoryError:
                return self._found()  # whoever reads the index says so
            name = self._found() if noted is None else noted.name
            self._name = self._name or name  # who has reviewed it meanwhile knows better
            if noted is not None:
                self._expect(noted.name)
        return self._name

    def review(self, units: int) -> bool:
        """Look at the notes again when there are twice as many ``units`` as when the model was chosen.

        Returns whether it is another one now.
        """
        before, noted = self._name, self._store.model_choice()
        if noted is not None and (noted.name == registry.MULTILINGUAL.name or units < 2 * noted.units):
            self._name = noted.name
        elif units:
            self._name = name = self._found()
            self._store.put_model_choice(ModelChoice(name, units))
            self._expect(name)
        return before not in (None, self._name)

    def _expect(self, name: str) -> None:
        file = self._store.beside(BESIDE)
        with suppress(OSError, ValueError):  # without it the next process waits for the index
            if file is not None and not (file.is_file() and file.read_bytes() == name.encode()):
                atomic.swap(file, name.encode(), 0o600)

    def _found(self) -> str:
        return (registry.MULTILINGUAL if self._foreign() >= FOREIGN else registry.DEFAULT).name
