"""Write ``openclaw_memory/text/characters.txt`` from the tables of OpenCC.

    pip install opencc-python-reimplemented==0.1.7
    python -m benchmarks.characters

Search compares a traditional Chinese character as its simplified form (the first one, if it has several), and a
Japanese character that Chinese lacks as the simplified form of its traditional one.
"""

from __future__ import annotations

from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

_TARGET = Path(__file__).parents[1] / "openclaw_memory" / "text" / "characters.txt"
#: Pairs of a line.
_WIDTH = 24
_HEADER = """\
# Characters of Chinese and Japanese that are one written another way: as it is written, and as it is compared.
# Made by benchmarks/characters.py from the tables TSCharacters (the first of several) and JPVariants (characters that
# Chinese has not) of OpenCC (Apache-2.0, https://github.com/BYVoid/OpenCC; opencc-python-reimplemented {version}).
# What was forgotten is hashed by them, and postings are made of them: another table is another VERSION of
# forget/words.py and another ANALYSIS_VERSION.

"""


def _table(name: str) -> dict[str, list[str]]:
    text = files("opencc").joinpath("dictionary", f"{name}.txt").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines() if line.strip())
    return {written: read.split() for written, read in rows}


def main() -> None:
    """Write the file."""
    simplified = _table("TSCharacters")
    read = {one: those[0] for one, those in simplified.items() if len(one) == len(those[0]) == 1 and one != those[0]}
    chinese = {*simplified, *(other for those in simplified.values() for other in those)}
    for old, those in _table("JPVariants").items():
        read |= {one: read.get(old, old) for one in those if one not in chinese}
    for one in read:
        while read[one] in read:
            read[one] = read[read[one]]
    pairs = [one + read[one] for one in sorted(read)]
    lines = [" ".join(pairs[at : at + _WIDTH]) for at in range(0, len(pairs), _WIDTH)]
    head = _HEADER.format(version=version("opencc-python-reimplemented"))
    _TARGET.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
