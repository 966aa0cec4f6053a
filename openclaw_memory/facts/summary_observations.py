"""Facts found in summaries: what their sentences state was stated by the notes that they were taken from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..model import Grain
from ..store.api import FactObservation, Store
from .validity import folded

_GRAINS = list(Grain)
_Said = tuple[str, int, int, str, str, str, str]


def as_noted(observations: Sequence[FactObservation], store: Store) -> list[FactObservation]:
    """Observations with those of summaries put where their sentences were taken from.

    The unit of a summary then states the same as that of the note, at the same place and on the same day, whether
    the note is in the index or not.  What the note in the index does not state is left out, unless a person wrote
    it into the summary.
    """
    derived = store.derived_rows()
    if not len(derived.unit_id):
        return list(observations)
    wanted = {seen.unit_id for seen in observations}
    cited: dict[int, tuple[int, tuple[str, int, int]]] = {}
    lines = zip(derived.path, derived.start_line.tolist(), derived.end_line.tolist(), strict=True)
    for unit, document, place in zip(derived.unit_id.tolist(), derived.document_id.tolist(), lines, strict=True):
        if unit in wanted and unit not in cited:
            cited[unit] = document, place
    if not cited:
        return list(observations)
    summaries = {info.id: info for info in store.summaries()}
    notes = {info.path for info in store.document_infos() if info.grain is Grain.WORKING}
    out = [seen for seen in observations if seen.unit_id not in cited]
    known = {_said(seen, (seen.path, seen.start_line, seen.end_line)): seen for seen in out}
    later = [seen for seen in observations if seen.unit_id in cited and cited[seen.unit_id][0] in summaries]
    later.sort(key=lambda seen: _GRAINS.index(summaries[cited[seen.unit_id][0]].grain))
    for seen in later:
        document, place = cited[seen.unit_id]
        said = _said(seen, place)
        if (same := known.get(said)) is not None:
            out.append(replace(same, unit_id=seen.unit_id))
            continue
        if place[0] not in notes:
            seen = replace(seen, path=place[0], start_line=place[1], end_line=place[2])
        elif not summaries[document].edited:
            continue
        known[said] = seen
        out.append(seen)
    return out


def _said(seen: FactObservation, place: tuple[str, int, int]) -> _Said:
    return *place, folded(seen.subject), seen.predicate, folded(seen.object), seen.rule
