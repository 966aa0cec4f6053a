"""What the rest of the package sees of a store: plain dataclasses and numpy arrays.

Nothing here mentions DuckDB or a local file, so a shared server can stand behind the same protocol.
"""

from __future__ import annotations

from .admin import Admin as Admin
from .admin import StoreStatistics as StoreStatistics
from .arrays import Analyse as Analyse
from .arrays import Bools as Bools
from .arrays import Floats as Floats
from .arrays import Ints as Ints
from .arrays import batches as batches
from .catalog import Catalog as Catalog
from .catalog import Cited as Cited
from .catalog import DocumentChange as DocumentChange
from .catalog import DocumentInfo as DocumentInfo
from .catalog import DocumentRow as DocumentRow
from .catalog import Documents as Documents
from .catalog import PlannedUnit as PlannedUnit
from .catalog import StoredUnit as StoredUnit
from .catalog import StoreState as StoreState
from .catalog import SummaryInfo as SummaryInfo
from .catalog import TextsChanged as TextsChanged
from .catalog import Version as Version
from .facts import FactObservation as FactObservation
from .facts import Facts as Facts
from .facts import StatedFact as StatedFact
from .facts import after_one_write as after_one_write
from .graph import RULES as RULES
from .graph import CuratedRow as CuratedRow
from .graph import Graph as Graph
from .graph import Mention as Mention
from .graph import MentionName as MentionName
from .graph import MentionRows as MentionRows
from .graph import OntologyRows as OntologyRows
from .graph import WorkspaceFile as WorkspaceFile
from .store import Store as Store
from .texts import DerivedRows as DerivedRows
from .texts import KeywordIndex as KeywordIndex
from .texts import KeywordIndexName as KeywordIndexName
from .texts import ModelChoice as ModelChoice
from .texts import PendingText as PendingText
from .texts import Postings as Postings
from .texts import SectionText as SectionText
from .texts import Texts as Texts
from .texts import UnitRows as UnitRows
from .texts import UnitText as UnitText
from .texts import UnitTraces as UnitTraces
from .texts import VectorIndex as VectorIndex
from .texts import VectorIndexName as VectorIndexName
from .texts import VectorModel as VectorModel
from .texts import VectorStates as VectorStates
