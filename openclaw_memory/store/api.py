"""What the rest of the package sees of a store: :class:`Store`, plain dataclasses and numpy arrays.

Nothing here mentions DuckDB or a local file: a server can hold the same tables.
"""

from __future__ import annotations

from .rows.arrays import Analyse as Analyse
from .rows.arrays import Bools as Bools
from .rows.arrays import Floats as Floats
from .rows.arrays import Ints as Ints
from .rows.arrays import batches as batches
from .rows.catalog import Cited as Cited
from .rows.catalog import DocumentChange as DocumentChange
from .rows.catalog import DocumentInfo as DocumentInfo
from .rows.catalog import DocumentRow as DocumentRow
from .rows.catalog import Documents as Documents
from .rows.catalog import PlannedUnit as PlannedUnit
from .rows.catalog import StoredUnit as StoredUnit
from .rows.catalog import StoreState as StoreState
from .rows.catalog import StoreStatistics as StoreStatistics
from .rows.catalog import SummaryInfo as SummaryInfo
from .rows.catalog import TextsChanged as TextsChanged
from .rows.catalog import Version as Version
from .rows.facts import FactObservation as FactObservation
from .rows.facts import StatedFact as StatedFact
from .rows.graph import RULES as RULES
from .rows.graph import CuratedRow as CuratedRow
from .rows.graph import Mention as Mention
from .rows.graph import MentionName as MentionName
from .rows.graph import MentionRows as MentionRows
from .rows.graph import OntologyRows as OntologyRows
from .rows.graph import WorkspaceFile as WorkspaceFile
from .rows.texts import DerivedRows as DerivedRows
from .rows.texts import KeywordIndex as KeywordIndex
from .rows.texts import KeywordIndexName as KeywordIndexName
from .rows.texts import ModelChoice as ModelChoice
from .rows.texts import PendingText as PendingText
from .rows.texts import Postings as Postings
from .rows.texts import SectionText as SectionText
from .rows.texts import UnitRows as UnitRows
from .rows.texts import UnitText as UnitText
from .rows.texts import UnitTraces as UnitTraces
from .rows.texts import VectorIndex as VectorIndex
from .rows.texts import VectorIndexName as VectorIndexName
from .rows.texts import VectorModel as VectorModel
from .rows.texts import VectorStates as VectorStates
from .tables.store import Store as Store
