"""Write ``openclaw_memory/text/stop_words.txt`` from two published collections.

    pip install stop-words==2025.11.4 stopwordsiso==0.7.1
    python -m benchmarks.stop_words

One collection alone takes many content words for stop words.  A word counts that both have, or the only one that knows
the language.
"""

from __future__ import annotations

import json
import re
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path

#: Languages by code, as PyStemmer names them where it knows them.
LANGUAGES = {
    "ar": "arabic", "bg": "bulgarian", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian",
    "fi": "finnish", "fr": "french", "ga": "irish", "gl": "galician", "he": "hebrew", "hi": "hindi", "hr": "croatian",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "ja": "japanese", "ko": "korean",
    "lt": "lithuanian", "lv": "latvian", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sk": "slovak", "sl": "slovenian", "st": "sesotho", "sv": "swedish",
    "tr": "turkish", "uk": "ukrainian", "vi": "vietnamese", "zh": "chinese",
}  # fmt: skip
_WORD = re.compile(r"\w+(?<!\d)")
_TARGET = Path(__file__).parents[1] / "openclaw_memory" / "text" / "stop_words.txt"
_HEADER = """\
# Stop words by language.  Made by benchmarks/stop_words.py; do not edit.
# Sources: stop-words {one} (BSD-3-Clause, https://github.com/Alir3z4/python-stop-words) and
# stopwordsiso {other} (MIT, https://github.com/stopwords-iso/stopwords-iso).
# A word is here that both have, or the only one of them that knows the language.
"""


def main() -> None:
    """Write the file."""
    one = files("stop_words").joinpath("stop-words")
    names = json.loads(one.joinpath("languages.json").read_text(encoding="utf-8"))
    every = json.loads(files("stopwordsiso").joinpath("stopwords-iso.json").read_text(encoding="utf-8"))
    out = [_HEADER.format(one=distribution("stop-words").version, other=distribution("stopwordsiso").version)]
    for code, language in sorted(LANGUAGES.items(), key=lambda item: item[1]):
        lists = [_words(every[code])] if code in every else []
        if code in names:
            lists.append(_words(one.joinpath(f"{names[code]}.txt").read_text(encoding="utf-8").splitlines()))
        out.append(f"[{language}]\n{' '.join(sorted(frozenset.intersection(*lists)))}\n")
    _TARGET.write_text("\n".join(out), encoding="utf-8")


def _words(entries: list[str]) -> frozenset[str]:
    """The single words of a list, in small letters; those with an apostrophe in their parts."""
    return frozenset(
        word for entry in entries if " " not in entry.strip() for word in _WORD.findall(entry.lower()) if word
    )


if __name__ == "__main__":
    main()
