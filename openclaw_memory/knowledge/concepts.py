"""Where a unit may speak of a concept: links, tags, names, identifiers, quoted terms and rare phrases.

What is found is only a candidate: whether its key is a concept is decided over the whole corpus
(:mod:`~openclaw_memory.graph.evidence`).  Every pattern is bounded, so time grows with the text and no faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import Any

from ..model import Unit
from ..store.api import Mention
from ..text import language
from ..text.labels import is_label
from ..text.machine import DIRECTIVE
from ..text.turns import without_speaker
from . import unspaced
from .concept_keys import concept_key
from .identifiers import in_code, in_text, is_opaque, of_path
from .names import names
from .routine import (
    ABBREVIATIONS,
    ADVERB_ENDS,
    GENERAL_FILES,
    LOOSE_ENDS,
    NAMELESS,
    NAMELESS_ENDS,
    ROUTINE,
    listed,
)

#: Grows when what is found in a text changes, so that stored mentions are known to be of another make.
VERSION = 11

_MOST = 12
_RULES = ("link", "tag", "meta", "code", "name", "quoted", "phrase", "start", "plain", "file", "part")
#: Rules by which a person says that something is a concept, whatever it is called.
_SAID = frozenset({"link", "tag", "meta", "file"})
#: What stands in the place of a secret: it says that there was one, and names nothing.
_REDACTED_MARK = "redacted:"
_REDACTED = re.compile(r"\[redacted:[\w-]{1,40}\]|\bredacted:[\w-]{1,40}")
_STRENGTH = {rule: at for at, rule in enumerate(_RULES)}

#: A name with an underscore, as columns of tables have, and how many of them are a table's.
_COLUMN = re.compile(r"(?<![\w./-])(?=[^\W_]++_)\w++(?<!_)(?!\(|\.\w)")
_COLUMNS = 5

#: Rule and spelling of what was found, in any order.
Found = list[tuple[str, str]]


def candidates(unit: Unit, file: File | None = None) -> list[Mention]:
    """What a unit may mention, each key once under its strongest rule; of more than 12 the 12 strongest.

    ``file`` is what the other texts of its file say of it, :meth:`File.of`.
    Read from the raw Markdown of ``unit.text``; the speaker of a turn is no mention, nor are dates, numbers,
    addresses of the web and everyday words.  Front matter (form ``meta``) has none of its own: see
    :func:`of_front_matter`.
    """
    if unit.form == "meta":
        return []
    found: Found = []
    text = _REDACTED.sub(_TAKEN, unit.text) if _REDACTED_MARK in unit.text else unit.text
    if "[[" in text:
        text = DIRECTIVE.sub(" ", text)
    # A line that names so many columns is a table's, and names nothing else.
    schema = text.count("_") >= _COLUMNS and len(set(_COLUMN.findall(text))) >= _COLUMNS
    if unit.form in ("code", "machine"):
        if schema:
            return []
        text = _WEB.sub(_TAKEN, text) if "://" in text else text
        found += [("code", name) for name in in_text(text)]
        return _mentions(found)
    text = without_speaker(text, unit.speaker) if unit.speaker else text
    if _MARKED.search(text):
        text = _without_marks(text, found)
    if schema:
        return _mentions([(rule, name) for rule, name in found if rule in _SAID])
    if _QUOTE_MARK.search(text):
        found += [("quoted", term) for term in map(_term, _QUOTED.findall(text)) if term]
    file = file or File.of([text])
    spoken = file.spoken
    if spoken == language.ENGLISH and not text.isascii():
        spoken = _spoken_in([text])  # a line of another language in an English file
    names(text, unit.form in ("heading", "title"), spoken, found)
    _words(text, spoken, found)
    if not text.isascii() and unspaced.ANY.search(text):
        found += unspaced.in_text(text)
        if file.repeated is not None:
            found += [("phrase", term) for term in file.repeated.findall(text)]
    return _mentions(found)


@dataclass(frozen=True, slots=True)
class File:
    """What the texts of a file say of each of them."""

    #: The language of its Latin letters.
    spoken: str
    #: Finds the terms that it repeats, in scripts without spaces.
    repeated: re.Pattern[str] | None

    @classmethod
    def of(cls, texts: Sequence[str]) -> File:
        """What ``texts`` say together."""
        return cls(_spoken_in(texts), unspaced.repeated(texts))


def _spoken_in(texts: Iterable[str]) -> str:
    """The language of texts in Latin letters."""
    return language.of_words({word for text in texts for word in language.latin_words(text.lower())})


def of_front_matter(front: Mapping[str, Any]) -> list[Mention]:
    """What a file's front matter says that the file is about: tags, topics, people, projects and the like.

    Other keys (date, origin, sources …) are the file's own affairs and give nothing.
    """
    found: Found = []
    for name, value in front.items():
        if name.strip().casefold() in listed("about"):
            found += [("meta", text) for text in _values(value)]
    return _mentions(found)


def of_file(path: str) -> list[Mention]:
    """The name of a file without folder and ending, so that a link to a note leads there.

    Nothing for files that every workspace has, such as ``MEMORY.md``.
    """
    name = path.rpartition("/")[2]
    stem = name.rpartition(".")[0] or name
    return [] if stem.casefold() in GENERAL_FILES else _mentions([("file", stem)])


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        # YAML may have taken the brackets of a placeholder for a list's.
        value = _REDACTED.sub(_TAKEN, value) if _REDACTED_MARK in value else value
        for part in value.split(","):
            name = part.strip(" \t\n#[]").partition("|")[0]
            if any(map(str.isalpha, name)) and "://" not in name:
                yield name
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, str):
                yield from _values(inner)


def _mentions(found: Found) -> list[Mention]:
    best: dict[int, tuple[int, str]] = {}
    for rule, text in found:
        if 2 <= len(text) <= 80 and (rule in _SAID or _says(text)) and (key := concept_key(text)):
            strength = _STRENGTH[rule]
            if key not in best or strength < best[key][0]:
                best[key] = strength, text
    rows = [(strength, key, text) for key, (strength, text) in best.items()]
    if len(rows) > _MOST:
        rows = sorted(rows, key=itemgetter(0))[:_MOST]
    return [Mention(key, text, _RULES[strength]) for strength, key, text in rows]


@lru_cache(maxsize=1 << 16)
def _says(name: str) -> bool:
    """Whether ``name`` may name a thing: no label, abbreviation of any subject, or file that every workspace has."""
    plain = name.casefold()
    if plain in ABBREVIATIONS or is_label(name) or (name[-1].isdigit() and is_label(name.rstrip(" 0123456789.-"))):
        return False
    if " " not in name and is_opaque(name):
        return False
    if name.isupper() and (plain in GENERAL_FILES or plain.replace("_", " ").split()[0] in GENERAL_FILES):
        return False
    return name.isascii() or not language.is_stop_word(plain, language.of_script(plain) or language.ENGLISH)


# -- marked places ------------------------------------------------------------------------------

_MARKED = re.compile(r"[`\[#@/*]|www\.")
#: Each begins with a plain character, which makes the search fast.
_SPECIAL = re.compile(
    r"""
    ``?`?(?P<code>[^`\n]{1,200})`{1,3}
    | \[\[(?P<link>[^\[\]\n]{1,200})\]\]
    | \]\((?P<target>[^()\s]{1,300})\)
    | \#(?<![\w&/#-]\#)(?P<tag>[^\W\d_][\w/-]{1,60})
    | \*\*(?P<bold>[^*\n]{2,40})(?:\*\*[:：]|[:：]\*\*)
    """,
    re.VERBOSE,
)
_WEB = re.compile(
    r"""
    \b(?:(?:https?|ftp|file|mailto|ssh|git):|www\.)[^\s<>"')]{2,2000}
    | (?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{1,100}
    """,
    re.VERBOSE,
)
_PATH = re.compile(r"(?<![\w./~@-])(?=/{0,20}[\w.~@-])(?:[\w.~@-]{0,64}/){1,20}[\w.@-]{0,100}")
_COLOUR = re.compile(r"(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\Z")
#: What stands for a place that was taken out: part of the sentence, and of no name or phrase.
_TAKEN = "0"
_QUOTE_MARK = re.compile('["“„«「《『]')
_QUOTED = re.compile(r"[\"“„«「《『](?=[^\s.,;!?])([^\"“”„«»「」《》『』\n]{2,60})(?:\"(?!\w)|[”“»」》』])")


def _without_marks(text: str, found: Found) -> str:
    """Note what marked places name; returns the rest of the text, which is for the other rules."""
    text = _SPECIAL.sub(lambda match: _special(match, found), text)
    if "://" in text or "www." in text or "@" in text:
        text = _WEB.sub(_TAKEN, text)
    if "/" in text:
        text = _PATH.sub(lambda match: _path(match[0], found), text)
    return text


def _special(match: re.Match[str], found: Found) -> str:
    rule = match.lastgroup or ""
    text = match[rule]
    if rule == "code":
        found += [("code", name) for name in in_code(text)]
    elif rule == "link":
        name = text.partition("|")[0].partition("#")[0].partition("^")[0].rpartition("/")[2].strip()
        found.append(("link", name.removesuffix(".md")))
    elif rule == "target":
        name = text.partition("#")[0].rpartition("/")[2]
        if name.endswith(".md") and "://" not in text:
            found.append(("link", name.removesuffix(".md")))
        return "]"
    elif rule == "tag":
        if not _COLOUR.match(text):
            found.append(("tag", text.rstrip("/-")))
    else:
        # "**attic**: the NAS in ..." introduces a name; a label such as "**Status:**" has a capital.
        if text.islower() and len(words := text.split()) < 4 and NAMELESS.isdisjoint(words):
            found.append(("code", text))
        return f"{text}: "
    return _TAKEN


def _path(path: str, found: Found) -> str:
    if path.partition("/")[0] in listed("regions"):
        return _TAKEN  # "Europe/Amsterdam", a time zone
    name = of_path(path)
    if name:
        found.append(("code", name))
    elif name is None and path[0] not in "/~." and path[-1] != "/":
        return path.replace("/", " / ")  # "and/or"
    return _TAKEN


#: How an option of a program is written: ``-la``, ``--no-input``.
_OPTION = re.compile(r"--?\w")


def _term(text: str) -> str | None:
    """A quoted text without its full stop, unless it is a sentence or everyday words."""
    term = text.rstrip(" .,!?。，！？")
    words = term.lower().split()
    if not words or len(words) > 4 or term[-1] in ":;…-" or _OPTION.match(term) or not any(map(str.isalpha, term)):
        return None
    if not term.isascii() and unspaced.is_sentence(term):
        return None
    if any(word not in NAMELESS for word in words) or (len(words) > 1 and term.istitle()):
        return term
    return None


# -- plain words --------------------------------------------------------------------------------


@cache
def _silent(spoken: str) -> frozenset[str]:
    """Words of a language that are part of no term; English ones stand in notes of every language."""
    return ROUTINE if spoken == language.ENGLISH else ROUTINE | language.stop_words().get(spoken, frozenset())


_KEY = re.compile(r"[\w\"'`*][:=](?:\Z|\S)|:\Z")


def _words(text: str, spoken: str, found: Found) -> None:
    """Identifiers, phrases, and as weak evidence single words in small letters, of which other places may say more."""
    words = text.split()
    english = spoken == language.ENGLISH
    silent = _silent(spoken)
    run: list[str] = []
    for word in words:
        bare, ends = word, False
        if not word.isalpha():
            bare = word.strip(".,;:!?\"'()*_~…“”„’[]{}<>|–—")
            ends = word[-1] != bare[-1:]
            if run and word[0] != bare[:1]:
                _phrases(run, found)
                run = []
            if "()" in word:
                bare = word
        if not bare.isalpha():
            ends = True
            if len(bare) > 2 and not bare.isdigit():
                # What a value follows is a key of data.
                rule = "start" if _KEY.search(word) else "code"
                found += [(rule, name) for name in in_text(word)]
                if english and "-" in bare and bare.islower():
                    if all(part.isalpha() and part not in ROUTINE for part in bare.split("-")):
                        found.append(("plain", bare))
        elif not bare.islower():
            # A capital opens a phrase ("GPU driver", "Hallway printer is ..."); two of them are a name.
            _phrases(run, found)
            run = [bare] if not run and english and bare.isascii() and bare.lower() not in ROUTINE else []
            if not bare[1:].islower() and not bare.isupper():
                found += [("code", name) for name in in_text(bare)]
        elif bare in silent:
            ends = True
        else:
            if english and bare.isascii():
                run.append(bare)
            else:
                ends = True
            if len(bare) > 4 and not (english and bare.endswith(NAMELESS_ENDS)):
                found.append(("plain", bare))
        if ends and run:
            _phrases(run, found)
            run = []
    _phrases(run, found)


def _phrases(run: list[str], found: Found) -> None:
    """The pairs of a run of plain words, of which only the first may have a capital; of three also the whole."""
    if len(run) < 2:
        return
    if not run[0].isupper():
        if run[0][0].isupper() and run[1].endswith("s"):
            run = run[1:]  # "Mira draws"
        else:
            run[0] = run[0].lower()
    fit = [first != second and _is_pair(first, second) for first, second in pairwise(run)]
    found += [("phrase", " ".join(pair)) for pair, fits in zip(pairwise(run), fit, strict=True) if fits]
    if len(run) == 3 and all(fit):
        found.append(("phrase", " ".join(run)))


def _is_pair(first: str, second: str) -> bool:
    return len(first) > 2 and len(second) > 2 and not first.endswith(ADVERB_ENDS) and not second.endswith(LOOSE_ENDS)
