"""The public names of the store: :class:`Store`, plain dataclasses and numpy arrays; nothing of DuckDB or a file."""

from __future__ import annotations

from .rows import KEPT as KEPT
from .rows import KEPT_STATUS as KEPT_STATUS
from .rows import KEPT_VECTORS as KEPT_VECTORS
from .rows import KEPT_WORDS as KEPT_WORDS
from .rows import RULES as RULES
from .rows import Analyse as Analyse
from .rows import Bools as Bools
from .rows import CitedLines as CitedLines
from .rows import CuratedRow as CuratedRow
from .rows import DocumentChange as DocumentChange
from .rows import DocumentInfo as DocumentInfo
from .rows import Documents as Documents
from .rows import FactObservation as FactObservation
from .rows import Floats as Floats
from .rows import Ints as Ints
from .rows import KeywordIndex as KeywordIndex
from .rows import Mention as Mention
from .rows import MentionName as MentionName
from .rows import MentionRows as MentionRows
from .rows import ModelChoice as ModelChoice
from .rows import OntologyRows as OntologyRows
from .rows import PendingText as PendingText
from .rows import PlannedUnit as PlannedUnit
from .rows import Postings as Postings
from .rows import SectionText as SectionText
from .rows import StatedFact as StatedFact
from .rows import StoreState as StoreState
from .rows import StoreStatistics as StoreStatistics
from .rows import SummaryCitations as SummaryCitations
from .rows import SummaryInfo as SummaryInfo
from .rows import TextsChanged as TextsChanged
from .rows import UnitDependents as UnitDependents
from .rows import UnitRows as UnitRows
from .rows import UnitText as UnitText
from .rows import VectorModel as VectorModel
from .rows import VectorStates as VectorStates
from .rows import WorkspaceFile as WorkspaceFile
from .rows import batches as batches
from .rows import distinct as distinct
from .tables.store import Store as Store
from .tables.vectors import VectorIndex as VectorIndex
