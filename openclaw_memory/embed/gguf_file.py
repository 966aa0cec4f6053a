"""What has to be known of a GGUF file before llama.cpp reads it."""

from __future__ import annotations

from pathlib import Path

from ..errors import ModelError

_MAGIC = b"GGUF"


def check_gguf(path: Path) -> None:
    """Raise :class:`~openclaw_memory.errors.ModelError` unless ``path`` is a file that starts like GGUF."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ModelError(
            f"{path}: cannot be read ({error.strerror}); run 'openclaw-memory model pull' "
            "or set embedding.model to a GGUF file"
        ) from error
    if magic != _MAGIC:
        raise ModelError(f"{path}: is not a GGUF file; pull the model again, or set embedding.model to another")


def no_reranker(path: Path) -> str:
    """What to say of a model that should be one."""
    return f"{path}: is no reranker; set search.reranker to the GGUF file of a cross-encoder, or to none"


def is_reranker(path: Path) -> bool:
    """Whether the model is a cross-encoder, which scores a question and a text together."""
    import gguf

    fields = gguf.GGUFReader(path).fields
    pooling = fields.get(f"{fields['general.architecture'].contents()}.pooling_type")
    return pooling is not None and int(pooling.contents()) == int(gguf.PoolingType.RANK)


def is_causal(path: Path) -> bool:
    """Whether the model is a decoder, whose last token has seen all the others; an encoder's tokens are averaged."""
    import gguf

    fields = gguf.GGUFReader(path).fields
    architecture = str(fields["general.architecture"].contents())
    causal = fields.get(f"{architecture}.attention.causal")
    return "bert" not in architecture and (causal is None or bool(causal.contents()))
