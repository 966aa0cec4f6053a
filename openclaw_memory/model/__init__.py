"""The frozen dataclasses that cross module borders.

Attributes are snake_case here; :mod:`openclaw_memory.system.serialize` is the one place that turns them
into the JSON of the contract.  A *token* is estimated by script (``size``).  Lines are 1-based and
inclusive.  Paths are relative to the workspace, with ``/``; extra roots read ``@name/…``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .citation import citation as citation
from .citation import parse_citation as parse_citation
from .notes import TRUSTED as TRUSTED
from .notes import UNSAID as UNSAID
from .notes import DateSource as DateSource
from .notes import FileText as FileText
from .notes import Grain as Grain
from .notes import IngestReport as IngestReport
from .notes import Kind as Kind
from .notes import Origin as Origin
from .notes import ParsedDocument as ParsedDocument
from .notes import ScanResult as ScanResult
from .notes import Section as Section
from .notes import SkippedFile as SkippedFile
from .notes import SourceFile as SourceFile
from .notes import Unit as Unit
from .notes import UnitForm as UnitForm
from .recall import SEEDS as SEEDS
from .recall import Edge as Edge
from .recall import RecallHit as RecallHit
from .recall import RecallResult as RecallResult
from .search import HIT_TOKENS as HIT_TOKENS
from .search import SEARCH_OPTIONS as SEARCH_OPTIONS
from .search import Candidate as Candidate
from .search import Repetition as Repetition
from .search import SearchHit as SearchHit
from .search import SearchOptions as SearchOptions
from .search import SearchRequest as SearchRequest
from .search import SearchResult as SearchResult
from .size import CHARS_PER_TOKEN as CHARS_PER_TOKEN
from .size import chars_of as chars_of
from .size import keep_ends as keep_ends
from .size import script_of as script_of
from .size import tokens_of as tokens_of
from .words import Progress as Progress
from .words import counted as counted
from .words import joined as joined
from .words import silent as silent

if TYPE_CHECKING:
    from .reports import CapturedSentence as CapturedSentence
    from .reports import CaptureReport as CaptureReport
    from .reports import ConceptRow as ConceptRow
    from .reports import ConceptsResult as ConceptsResult
    from .reports import ConsolidateReport as ConsolidateReport
    from .reports import ContextResult as ContextResult
    from .reports import ContextUse as ContextUse
    from .reports import ExportedTable as ExportedTable
    from .reports import ExportReport as ExportReport
    from .reports import ExtractedFact as ExtractedFact
    from .reports import FactRow as FactRow
    from .reports import FactsResult as FactsResult
    from .reports import FeedbackReport as FeedbackReport
    from .reports import ForgetReport as ForgetReport
    from .reports import ForgottenText as ForgottenText
    from .reports import GrainSize as GrainSize
    from .reports import Heartbeat as Heartbeat
    from .reports import ImportReport as ImportReport
    from .reports import MapReport as MapReport
    from .reports import QueryResult as QueryResult
    from .reports import QuotedHits as QuotedHits
    from .reports import Session as Session
    from .reports import SessionStarted as SessionStarted
    from .reports import SummaryPlan as SummaryPlan
    from .reports import UseRow as UseRow
    from .status import Check as Check
    from .status import Status as Status
else:

    def __getattr__(name: str) -> Any:
        """Import results and reports when one is asked for: to make their types takes longer than most commands."""
        from importlib import import_module

        for module in ("status", "reports"):
            if hasattr(loaded := import_module(f".{module}", __name__), name):
                return getattr(loaded, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
