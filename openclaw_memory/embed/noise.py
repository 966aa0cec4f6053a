"""How similar a model finds texts that have nothing to do with each other.

Models differ: one gives unrelated texts a cosine of 0.1, another 0.4.  Scores that mean the same for
every model need to know, so a few questions are compared with statements about other things.
"""

from __future__ import annotations

from ..model.embedder import Embedder

_QUESTIONS = (
    "Which bus goes to the harbour on Sundays?",
    "How long do lentils have to soak?",
    "Who painted the ceiling of the old theatre?",
    "What does the warranty of the washing machine cover?",
    "Why was the mountain railway closed?",
    "Which chord follows in the second verse?",
    "How do I reset the router's password?",
    "When are tulip bulbs planted?",
)
_STATEMENTS = (
    "The committee postponed its vote on the water tariff.",
    "- renamed the helper and moved its tests",
    "Her grandmother kept bees behind the mill.",
    "The disk of the backup server is almost full.",
    "We agreed on blue tiles for the bathroom.",
    "Penguins lose all their feathers at once.",
    "Invoice 2210 was paid twice by mistake.",
    "The goalkeeper broke a finger in training.",
)


def measure(embedder: Embedder) -> float:
    """Cosine that two unrelated texts rarely exceed: mean and two standard deviations of the probes'.

    Raises :class:`~openclaw_memory.errors.ModelError` when the model cannot embed.
    """
    cosines = embedder.embed_query(list(_QUESTIONS)) @ embedder.embed_documents(list(_STATEMENTS)).T
    return float(min(0.9, max(0.0, cosines.mean() + 2 * cosines.std())))
