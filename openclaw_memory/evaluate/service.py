"""Ask a memory questions of its own notes, beside other settings if wanted, and report how many it answers."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..facts.service import FactService
from ..model import (
    EvaluationReport,
    EvaluationRun,
    EvaluationScores,
    Progress,
    SearchHit,
    SearchRequest,
    joined,
    silent,
)
from ..sharing.reading import ReadingMemory
from ..store.state import State
from . import history
from .questions import Lines, NoteQuestion, make_questions
from .scores import NOT_FOUND, Outcome, compare, summarise


def evaluate(
    memory: ReadingMemory,
    facts: FactService,
    state: State,
    most: int,
    other: tuple[Mapping[str, Any], ReadingMemory] | None = None,
    progress: Progress = silent,
) -> EvaluationReport:
    """Ask about ``most`` questions, the same of a memory with ``other`` settings, and add the counts to ``state``."""
    started = time.monotonic()
    questions = note_questions(memory, facts, most)
    total = len(questions) * (1 if other is None else 2)
    outcomes, scores, warning = _ask(memory, questions, progress, 0, total)
    comparison = None
    if other is not None:
        values, variant = other
        other_outcomes, other_scores, other_warning = _ask(variant, questions, progress, len(questions), total)
        comparison = compare(dict(values), outcomes, other_outcomes, other_scores)
        warning = joined(list(dict.fromkeys(filter(None, (warning, other_warning)))))
    found, quiet = scores.found.at5, scores.silent
    key = history.settings_hash(memory.settings)
    run = EvaluationRun(memory.today(), found.part, found.whole, quiet.part, quiet.whole, key, scores.model)
    before = history.last_run(state, memory.settings)
    history.add_run(state, run)
    return EvaluationReport(run, scores, round(time.monotonic() - started, 1), comparison, before, warning)


def note_questions(memory: ReadingMemory, facts: FactService, most: int) -> list[NoteQuestion]:
    """Make about ``most`` questions from the notes of a memory."""
    memory.search_uncounted(SearchRequest("memory"))  # brings the index up to date, with the vectors of its model
    rows, index = facts.query().rows, memory._questions.index()
    with index.reading():
        return make_questions(index, rows, most)


def _ask(
    memory: ReadingMemory, questions: Sequence[NoteQuestion], progress: Progress, done: int, total: int
) -> tuple[list[Outcome], EvaluationScores, str | None]:
    outcomes: list[Outcome] = []
    result = memory.search_uncounted(SearchRequest("memory"))  # so that the first question does not load the model
    for question in questions:
        began = time.perf_counter()
        result = memory.search_uncounted(SearchRequest(question.text, max_results=NOT_FOUND - 1, min_score=0.0))
        seconds = time.perf_counter() - began
        outcome = Outcome(question.kind, question.language, seconds * 1000)
        if question.answers:
            outcome = replace(outcome, rank=_rank(question, result.results))
        else:
            context = memory.ambient.context(question.text, elsewhere=True).text
            outcome = replace(outcome, silent=not result.good_match, no_context=not context)
        outcomes.append(outcome)
        done += 1
        progress("evaluate", done, total)
    warning = joined(list(filter(None, (result.fallback, result.warning))))
    return outcomes, summarise(outcomes, result.model, result.mode), warning


def _rank(question: NoteQuestion, hits: Sequence[SearchHit]) -> int:
    """Return the rank of the first hit that has an answer."""
    ranks = (at for at, hit in enumerate(hits, 1) if any(_overlaps(hit, lines) for lines in question.answers))
    return next(ranks, NOT_FOUND)


def _overlaps(hit: SearchHit, lines: Lines) -> bool:
    path, first, last = lines
    return hit.path == path and hit.start_line <= last and first <= hit.end_line
