"""Where a unit may speak of a concept: links, tags, names, identifiers, quoted terms and rare phrases.

A mention is a candidate: :mod:`~openclaw_memory.graph.evidence` decides over the whole corpus whether its key is a
concept.  Every pattern is bounded, so that time is linear in the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import Any

from .. import patterns as re
from ..model import Unit
from ..records import NamedTuple
from ..store.api import Mention
from ..text import language
from ..text.labels import is_label
from ..text.machine import DIRECTIVE
from ..text.turns import without_speaker
from . import unspaced
from .concept_keys import concept_key
from .identifiers import identifiers_in_code, identifiers_in_text, is_opaque, name_of_path
from .lexicon import NAMELESS, ROUTINE, routine_endings, routine_words
from .names import add_names

#: Rules from the strongest on.
_RULES = ("link", "tag", "meta", "code", "name", "quoted", "phrase", "start", "plain", "file", "part")
#: Rules by which a person says that something is a concept, whatever it is called.
_EXPLICIT = frozenset({"link", "tag", "meta", "file"})
#: The mark that redaction leaves: it names nothing.
_REDACTED = re.compile(r"\[redacted:[\w-]{1,40}\]|\bredacted:[\w-]{1,40}")
#: A name with an underscore, as columns of tables have.
_COLUMN = re.compile(r"(?<![\w./-])(?=[^\W_]++_)\w++(?<!_)(?!\(|\.\w)")
#: The stand-in for a marked place: part of the sentence, and of no name or phrase.
_STAND_IN = "0"

#: Rule and spelling of mentions, in any order.
Spellings = list[tuple[str, str]]


class FileContext(NamedTuple):
    """Evidence from all texts of a file for each of them: the language, and the terms that it repeats."""

    #: The language of the Latin letters.
    spoken: str
    #: Finds repeated terms of scripts without spaces.
    repeated: re.Pattern[str] | None

    @classmethod
    def for_texts(cls, texts: Sequence[str]) -> FileContext:
        """Return the context of the units' ``texts``."""
        return cls(_language_of(texts), unspaced.repeated(texts))


def candidates(unit: Unit, file: FileContext | None = None) -> list[Mention]:
    """Return what a unit may mention: the 12 strongest, each key once under its strongest rule.

    Reads the raw Markdown of ``unit.text``.  The speaker of a turn, dates, numbers, web addresses and everyday words
    are no mentions.  Front matter (form ``meta``) has none of its own: see :func:`front_matter_mentions`.
    """
    if unit.form == "meta":
        return []
    spellings: Spellings = []
    text = _without_redaction_marks(unit.text)
    if "[[" in text:
        text = DIRECTIVE.sub(" ", text)
    # A line that names five columns is a table's, and names nothing else.
    schema = text.count("_") >= 5 and len(set(_COLUMN.findall(text))) >= 5
    if unit.form in ("code", "machine"):
        if schema:
            return []
        text = _WEB.sub(_STAND_IN, text) if "://" in text else text
        return _strongest([("code", name) for name in identifiers_in_text(text)])
    text = without_speaker(text, unit.speaker) if unit.speaker else text
    if _MARKED.search(text):
        text = _take_marked(text, spellings)
    if schema:
        return _strongest([(rule, name) for rule, name in spellings if rule in _EXPLICIT])
    spellings += [("quoted", term) for term in map(_quoted_term, _QUOTED.findall(text)) if term]
    file = file or FileContext.for_texts([text])
    spoken = file.spoken
    if spoken == language.ENGLISH and not text.isascii():
        spoken = _language_of([text])  # a line of another language in an English file
    add_names(text, unit.form in ("heading", "title"), spoken, spellings)
    _add_words(text, spoken, spellings)
    if not text.isascii() and unspaced.ANY.search(text):
        spellings += unspaced.compound_terms(text)
        if file.repeated is not None:
            spellings += [("phrase", term) for term in file.repeated.findall(text)]
    return _strongest(spellings)


def front_matter_mentions(front: Mapping[str, Any]) -> list[Mention]:
    """Return the subjects that front matter gives to the whole file: tags, topics, people, projects and the like."""
    about = (value for name, value in front.items() if name.strip().casefold() in routine_words("about"))
    return _strongest([("meta", text) for value in about for text in _front_matter_names(value)])


def file_mentions(path: str) -> list[Mention]:
    """Return the name of a file without folder and ending, so that a link to a note leads there.

    Files that every workspace has, such as ``MEMORY.md``, give nothing.
    """
    name = path.rpartition("/")[2]
    stem = name.rpartition(".")[0] or name
    return [] if stem.casefold() in routine_words("files") else _strongest([("file", stem)])


def _language_of(texts: Iterable[str]) -> str:
    return language.detect_language({word for text in texts for word in language.latin_words(text.lower())})


def _without_redaction_marks(text: str) -> str:
    return _REDACTED.sub(_STAND_IN, text) if "redacted:" in text else text


def _front_matter_names(value: Any) -> Iterator[str]:
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str):
            # YAML may have read the brackets of a redaction mark as a list.
            for part in _without_redaction_marks(text).split(","):
                name = part.strip(" \t\n#[]").partition("|")[0]
                if any(map(str.isalpha, name)) and "://" not in name:
                    yield name


def _strongest(spellings: Spellings) -> list[Mention]:
    best: dict[int, tuple[int, str]] = {}
    for rule, text in spellings:
        if 2 <= len(text) <= 80 and (rule in _EXPLICIT or _may_name(text)) and (key := concept_key(text)):
            strength = _RULES.index(rule)
            if key not in best or strength < best[key][0]:
                best[key] = strength, text
    rows = [(strength, key, text) for key, (strength, text) in best.items()]
    if len(rows) > 12:
        rows = sorted(rows, key=itemgetter(0))[:12]
    return [Mention(key, text, _RULES[strength]) for strength, key, text in rows]


@lru_cache(maxsize=1 << 16)
def _may_name(name: str) -> bool:
    """Return false for a label, an abbreviation of any subject, a hash, or a file that every workspace has."""
    low, files = name.casefold(), routine_words("files")
    label = is_label(name) or (name[-1].isdigit() and is_label(name.rstrip(" 0123456789.-")))
    if low in routine_words("abbreviations") or label or (" " not in name and is_opaque(name)):
        return False
    if name.isupper() and (low in files or low.replace("_", " ").split()[0] in files):
        return False
    return name.isascii() or not language.is_stop_word(low, language.script_language(low) or language.ENGLISH)


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
_QUOTED = re.compile(r"[\"“„«「《『](?=[^\s.,;!?])([^\"“”„«»「」《》『』\n]{2,60})(?:\"(?!\w)|[”“»」》』])")


def _take_marked(text: str, spellings: Spellings) -> str:
    """Append the names of marked places to ``spellings``; return the text with a stand-in for each."""
    text = _SPECIAL.sub(lambda match: _take_special(match, spellings), text)
    if "://" in text or "www." in text or "@" in text:
        text = _WEB.sub(_STAND_IN, text)
    if "/" in text:
        text = _PATH.sub(lambda match: _take_path(match[0], spellings), text)
    return text


def _take_special(match: re.Match[str], spellings: Spellings) -> str:
    rule = match.lastgroup or ""
    text = match[rule]
    if rule == "code":
        spellings += [("code", name) for name in identifiers_in_code(text)]
    elif rule == "link":
        name = text.partition("|")[0].partition("#")[0].partition("^")[0].rpartition("/")[2].strip()
        spellings.append(("link", name.removesuffix(".md")))
    elif rule == "target":
        name = text.partition("#")[0].rpartition("/")[2]
        if name.endswith(".md") and "://" not in text:
            spellings.append(("link", name.removesuffix(".md")))
        return "]"
    elif rule == "tag":
        if not _COLOUR.match(text):
            spellings.append(("tag", text.rstrip("/-")))
    else:
        # "**attic**: the NAS in ..." introduces a name; a label such as "**Status:**" has a capital.
        if text.islower() and len(words := text.split()) < 4 and NAMELESS.isdisjoint(words):
            spellings.append(("code", text))
        return f"{text}: "
    return _STAND_IN


def _take_path(path: str, spellings: Spellings) -> str:
    if path.partition("/")[0] in routine_words("regions"):
        return _STAND_IN  # "Europe/Amsterdam", a time zone
    name = name_of_path(path)
    if name:
        spellings.append(("code", name))
    elif name is None and path[0] not in "/~." and path[-1] != "/":
        return path.replace("/", " / ")  # "and/or"
    return _STAND_IN


#: An option of a program: ``-la``, ``--no-input``.
_OPTION = re.compile(r"--?\w")


def _quoted_term(text: str) -> str | None:
    """Return a quoted text without its full stop; ``None`` for a sentence or everyday words."""
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


def _silent(spoken: str) -> frozenset[str]:
    """Return the words that are part of no term; English ones stand in notes of every language."""
    return ROUTINE if spoken == language.ENGLISH else ROUTINE | language.stop_words().get(spoken, frozenset())


_KEY = re.compile(r"[\w\"'`*][:=](?:\Z|\S)|:\Z")


def _add_words(text: str, spoken: str, spellings: Spellings) -> None:
    """Append identifiers, phrases and, as weak evidence, single words in small letters."""
    words = text.split()
    english = spoken == language.ENGLISH
    silent, nameless = _silent(spoken), routine_endings("adverb-ends", "loose-ends", "nameless-ends")
    run: list[str] = []
    for word in words:
        bare, ends = word, False
        if not word.isalpha():
            bare = word.strip(".,;:!?\"'()*_~…“”„’[]{}<>|–—")
            ends = word[-1] != bare[-1:]
            if run and word[0] != bare[:1]:
                _add_phrases(run, spellings)
                run = []
            if "()" in word:
                bare = word
        if not bare.isalpha():
            ends = True
            if len(bare) > 2 and not bare.isdigit():
                # A word before a value is a key of data.
                rule = "start" if _KEY.search(word) else "code"
                spellings += [(rule, name) for name in identifiers_in_text(word)]
                if english and "-" in bare and bare.islower():
                    if all(part.isalpha() and part not in ROUTINE for part in bare.split("-")):
                        spellings.append(("plain", bare))
        elif not bare.islower():
            # A capital opens a phrase ("GPU driver", "Hallway printer is ..."); two of them are a name.
            _add_phrases(run, spellings)
            run = [bare] if not run and english and bare.isascii() and bare.lower() not in ROUTINE else []
            if not bare[1:].islower() and not bare.isupper():
                spellings += [("code", name) for name in identifiers_in_text(bare)]
        elif bare in silent:
            ends = True
        else:
            if english and bare.isascii():
                run.append(bare)
            else:
                ends = True
            if len(bare) > 4 and not (english and bare.endswith(nameless)):
                spellings.append(("plain", bare))
        if ends and run:
            _add_phrases(run, spellings)
            run = []
    _add_phrases(run, spellings)


def _add_phrases(run: list[str], spellings: Spellings) -> None:
    """Append the pairs of a run of plain words, of which only the first may have a capital; of three also the whole."""
    if len(run) < 2:
        return
    if not run[0].isupper():
        if run[0][0].isupper() and run[1].endswith("s"):
            run = run[1:]  # "Mira draws"
        else:
            run[0] = run[0].lower()
    fit = [first != second and _is_pair(first, second) for first, second in pairwise(run)]
    spellings += [("phrase", " ".join(pair)) for pair, fits in zip(pairwise(run), fit, strict=True) if fits]
    if len(run) == 3 and all(fit):
        spellings.append(("phrase", " ".join(run)))


def _is_pair(first: str, second: str) -> bool:
    if len(first) < 3 or len(second) < 3:
        return False
    return not first.endswith(routine_endings("adverb-ends")) and not second.endswith(
        routine_endings("adverb-ends", "loose-ends")
    )
