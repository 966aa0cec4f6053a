"""concepts.yaml: read strictly, changed by commands without losing what a person wrote."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from tables import parts, table

from openclaw_memory.knowledge import concepts_file
from openclaw_memory.knowledge.concept_keys import concept_key
from openclaw_memory.knowledge.concepts_file import CuratedConcept, Ontology, OntologyError, spellings
from openclaw_memory.knowledge.linking import curated_matcher
from openclaw_memory.system import atomic, yaml_edit

HAND_EDITED = """\
# Our words.   Ask Mira before you change one.

concepts:
  # -- tools ------------------------------------------------
  kubernetes:   {name: Kubernetes, aliases: [ 'k8s', kube ], kind: tool}   # since spring
  SurrealDB:
    kind:    tool
    # what people also call it
    aliases:
      - surreal     # in chats
      - "sdb"
    parents: [ database ]

  database: {parents: [tool], weight: 2}
  tool:

  # -- people -----------------------------------------------
  mira: {kind: person}
  # dario: {kind: person}

# Routine, not knowledge.
ignore:
- standup   # every day
- chores

single_valued: [Favourite Colour]
# the end
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "workspace").mkdir()
    return tmp_path / "workspace" / "concepts.yaml"


@pytest.fixture
def edited(file: Path) -> Path:
    file.write_text(HAND_EDITED, encoding="utf-8")
    return file


# -- reading --------------------------------------------------------------------------------------


def test_no_file_is_no_concepts(file: Path) -> None:
    assert concepts_file.read(file) == Ontology()
    assert not file.exists()


def test_a_hand_edited_file_is_read(edited: Path) -> None:
    ontology = concepts_file.read(edited)
    assert dict(ontology.concepts) == {
        "kubernetes": CuratedConcept("kubernetes", "Kubernetes", ("k8s", "kube"), kind="tool"),
        "surrealdb": CuratedConcept("surrealdb", "SurrealDB", ("surreal", "sdb"), ("database",), kind="tool"),
        "database": CuratedConcept("database", "database", parents=("tool",), weight=2.0),
        "tool": CuratedConcept("tool", "tool"),
        "mira": CuratedConcept("mira", "mira", kind="person"),
    }
    assert ontology.ignored == ("standup", "chores")
    assert ontology.single_valued == ("favourite colour",)


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n", "concepts:\nignore:\nsingle_valued:\n", "concepts: {}", "null\n"])  # fmt: skip
def test_a_file_that_says_nothing_is_no_concepts(file: Path, text: str) -> None:
    file.write_text(text)
    assert concepts_file.read(file) == Ontology()


def test_words_that_yaml_takes_for_something_else_are_names(file: Path) -> None:
    file.write_text("concepts: {no: {aliases: [on, 2026-02-16, 007, 1.5, 'null']}}\nignore: yes\n")
    ontology = concepts_file.read(file)
    assert ontology.concepts["no"].aliases == ("on", "2026-02-16", "007", "1.5", "null")
    assert ontology.ignored == ("yes",)


def test_a_mark_of_byte_order_and_windows_line_ends_are_read(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + HAND_EDITED.replace("\n", "\r\n").encode())
    assert len(concepts_file.read(file).concepts) == 5


def test_parents_and_related_ones_are_meant_by_any_of_their_names(file: Path) -> None:
    file.write_text(
        "concepts:\n  kubernetes: {aliases: [k8s]}\n  pod: {parents: [K8S], related: [Kubernetes, k8s, Grafana]}\n"
    )
    pod = concepts_file.read(file).concepts["pod"]
    assert pod.parents == ("kubernetes",)
    assert pod.related == ("kubernetes", "grafana")


def test_a_related_name_without_an_entry_is_kept_until_it_has_one(file: Path) -> None:
    concepts_file.add(file, "Wren", related=["boxes"])
    assert concepts_file.read(file).concepts["wren"].related == ("boxes",)
    concepts_file.add(file, "Mira", parents=["box"])
    assert concepts_file.read(file).concepts["wren"].related == ("box",)
    assert "related: [boxes]" in file.read_text()
    concepts_file.remove(file, "box")
    concepts_file.add(file, "Wren", related=["lark", "build box"])
    concepts_file.add(file, "wren", aliases=["build box"])
    assert concepts_file.read(file).concepts["wren"].related == ("lark",)
    assert "related: [lark]" in file.read_text()
    file.write_text("concepts:\n  wren:\n    related:\n    - boxes\n    - lark  # too\n  mira: {related: boxes}\n")
    concepts_file.add(file, "Wren", aliases=["box", "lark"], related=["Mira"])
    concepts_file.add(file, "Mira", aliases=["kestrel"], related=["heron"])
    assert "    related:\n    - mira\n    aliases: [box, lark]\n" in file.read_text()
    assert "  mira: {related: [boxes, heron], aliases: [kestrel]}\n" in file.read_text()
    file.write_text("concepts:\n  wren:\n    related:\n    - box\n")
    concepts_file.add(file, "Wren", aliases=["boxes"])
    assert concepts_file.read(file).concepts["wren"] == CuratedConcept("wren", "wren", ("boxes",))


def test_a_parent_without_an_entry_is_a_concept(file: Path) -> None:
    file.write_text("concepts:\n  wren: {parents: [Build Server]}\n  lark: {parents: [build-servers]}\n")
    ontology = concepts_file.read(file)
    assert ontology.concepts["build-server"] == CuratedConcept("build-server", "Build Server")
    assert ontology.concepts["lark"].parents == ("build-server",)


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        *table("ontology.tsv", "what is wrong is named with file line and next step", str, int, str),
        ("concepts: " + "[" * 100_000, 1, "nest"),
        ("ignore: [" + "x" * 81 + "]\n", 1, "longer than 80"),
        ("concepts:\n  a: {}\n\x07\n", 3, "cannot be read"),
    ],
)
def test_what_is_wrong_is_named_with_file_line_and_next_step(file: Path, text: str, line: int, cause: str) -> None:
    file.write_text(text)
    with pytest.raises(OntologyError) as caught:
        concepts_file.read(file)
    message = str(caught.value)
    assert message.startswith(f"{file}, line {line}: ")
    assert cause in message
    assert "; " in message
    with pytest.raises(OntologyError):
        concepts_file.add(file, "Something")
    assert file.read_text() == text


def test_a_file_that_cannot_be_read_is_named(file: Path) -> None:
    file.write_bytes(b"concepts: {\xff}")
    with pytest.raises(OntologyError, match="is not UTF-8"):
        concepts_file.read(file)
    file.unlink()
    file.mkdir()
    with pytest.raises(OntologyError, match="is a folder"):
        concepts_file.read(file)


def test_names_that_are_secrets_are_left_out(file: Path) -> None:
    file.write_text(
        "concepts:\n"
        "  hunter2: {kind: tool}\n"
        "  vault: {name: hunter2}\n"
        "  wren: {aliases: [hunter2, the server], kind: hunter2, parents: [hunter2], related: [hunter2]}\n"
        "ignore: [hunter2, standup]\n"
    )
    ontology = concepts_file.read(file, lambda text: text.replace("hunter2", "[redacted:password]"))
    assert list(ontology.concepts) == ["wren"]
    wren = ontology.concepts["wren"]
    assert (wren.aliases, wren.kind, wren.parents, wren.related) == (("the server",), None, (), ())
    assert ontology.ignored == ("standup",)


@given(st.text(alphabet=st.sampled_from("ab:{}[]-,#'\"\n \t&*!|>?%@`"), max_size=60) | st.text(max_size=60))
def test_any_text_is_read_or_refused_with_a_reason(text: str) -> None:
    with suppress(yaml_edit.YamlTextError):
        yaml_edit.parse(text)


def test_a_long_chain_of_parents_is_read(file: Path) -> None:
    file.write_text("concepts:\n" + "".join(f"  c{i}x: {{parents: [c{i + 1}x]}}\n" for i in range(3000)))
    assert len(concepts_file.read(file).concepts) == 3001


# -- rows and names -------------------------------------------------------------------------------


def test_rows_name_parents_and_related_ones_by_key(edited: Path) -> None:
    rows = concepts_file.read(edited).rows(4)
    assert rows.version == 4
    by_slug = {row.slug: row for row in rows.concepts}
    surreal = by_slug["surrealdb"]
    assert (surreal.key, surreal.name, surreal.kind) == (concept_key("SurrealDB"), "SurrealDB", "tool")
    assert surreal.parents == (by_slug["database"].key,)
    assert by_slug["database"].weight == 2.0
    assert rows.ignored == (concept_key("standup"), concept_key("chore"))
    assert rows.single_valued == ("favourite colour",)


def test_names_are_looked_for_with_hyphens_and_in_the_plural(edited: Path) -> None:
    concepts_file.add(edited, "embedding model", aliases=["parrot-board"])
    concepts_file.add(edited, "Slack")
    ontology = concepts_file.read(edited)
    matcher = curated_matcher(ontology.rows(0))
    text = "Two embedding-models, a parrot board, databases, slack in Slack"
    assert [text[each.start : each.end] for each in matcher.find(text)] == [
        "embedding-models", "parrot board", "databases", "Slack"
    ]  # fmt: skip
    keys = {slug: concept_key(slug) for slug in ontology.concepts}
    assert {each.key for each in matcher.find(text)} == {keys["embedding-model"], keys["database"], keys["slack"]}


@pytest.mark.parametrize(("name", "expected"), table("ontology.tsv", "spellings of a name", str, parts))
def test_spellings_of_a_name(name: str, expected: list[str]) -> None:
    assert list(spellings(name)) == expected


def test_a_concept_is_found_by_any_of_its_names(edited: Path) -> None:
    ontology = concepts_file.read(edited)
    for name in ("kubernetes", "Kubernetes", "K8S", "kube"):
        concept = ontology.find(name)
        assert concept is not None and concept.slug == "kubernetes"
    assert ontology.find("nothing") is None
    assert ontology.slugs_by_key()[concept_key("surreal")] == "surrealdb"


# -- changing -------------------------------------------------------------------------------------


def test_the_first_concept_makes_a_file_that_explains_itself(file: Path) -> None:
    done = concepts_file.add(file, "Kubernetes", ["k8s"], ["orchestration"], "Tool", weight=1.5)
    assert (done.action, done.slug) == ("added", "kubernetes")
    assert file.read_text().startswith("# Concepts that the memory knows by name.")
    assert yaml.safe_load(file.read_text()) == {
        "concepts": {
            "kubernetes": {
                "name": "Kubernetes", "aliases": ["k8s"], "parents": ["orchestration"], "kind": "tool", "weight": 1.5
            },
            "orchestration": {"name": "orchestration"},
        }
    }  # fmt: skip
    assert concepts_file.read(file) == done.ontology
    assert {path.name for path in file.parent.iterdir()} == {"concepts.yaml", atomic.OWN_FOLDER}


def lines_lost(before: str, after: str) -> list[str]:
    """Lines of ``before`` that are not in ``after``; blanks aside, which a change may even out."""
    left = ["".join(line.split()) for line in after.splitlines()]
    return [line for line in before.splitlines() if "".join(line.split()) not in left]


def test_changes_leave_every_other_line_as_it_is(edited: Path) -> None:
    done = concepts_file.add(edited, "Wren", ["build box"], ["Machine"], "machine")
    assert done.action == "added"
    text = edited.read_text()
    assert lines_lost(HAND_EDITED, text) == []
    assert text.index("  wren: {name: Wren, aliases: [build box], parents: [machine], kind: machine}\n  machine: {") > (
        text.index("  mira:")
    )
    assert text.index("  wren:") < text.index("# Routine, not knowledge.")

    concepts_file.add(edited, "surreal", aliases=["Surreal Database", "no"])
    text = edited.read_text()
    assert lines_lost(HAND_EDITED, text) == []
    assert "      - \"sdb\"\n      - Surreal Database\n      - 'no'\n    parents: [database]\n" in text

    concepts_file.add(edited, "k8s", aliases=["K8S"])
    assert "  kubernetes: {name: Kubernetes, aliases: ['k8s', kube, K8S], kind: tool} " in edited.read_text()
    concepts_file.add(edited, "kubernetes", parents=["tool"])
    assert "kube, K8S], kind: tool, parents: [tool]} " in edited.read_text()
    assert edited.read_text().count("# since spring\n") == 1
    concepts_file.add(edited, "tool", related=["mira"], kind="thing")
    assert "\n  tool: {kind: thing, related: [mira]}\n" in edited.read_text()
    concepts_file.add(edited, "surreal", kind="database engine", weight=3)
    assert "    kind: database engine\n" in edited.read_text()
    assert "    parents: [database]\n    weight: 3.0\n\n" in edited.read_text()


def test_taking_a_concept_out_takes_its_line_and_what_refers_to_it(edited: Path) -> None:
    concepts_file.add(edited, "Wren", related=["Database", "mira"])
    before = edited.read_text()
    done = concepts_file.remove(edited, "Database")
    assert (done.action, done.slug) == ("removed", "database")
    ontology = concepts_file.read(edited)
    assert "database" not in ontology.concepts
    assert ontology.concepts["surrealdb"].parents == ()
    assert ontology.concepts["wren"].related == ("mira",)
    assert ontology.concepts["tool"]
    assert lines_lost(before, edited.read_text()) == [
        "    parents: [database]",
        "  database: {parents: [tool], weight: 2}",
        "  wren: {name: Wren, related: [database, mira]}",
    ]


def test_an_alias_names_the_concept_that_is_taken_out(edited: Path) -> None:
    done = concepts_file.remove(edited, "k8s")
    assert (done.action, done.slug) == ("removed", "kubernetes")


def test_a_name_that_is_not_curated_is_ignored_until_it_is(edited: Path) -> None:
    done = concepts_file.remove(edited, "Stand-in")
    assert (done.action, done.slug) == ("ignored", "stand-in")
    assert "- standup # every day\n  - chores\n  - Stand-in\n\nsingle_valued" in edited.read_text()
    assert concepts_file.remove(edited, "stand in").action == "unchanged"
    done = concepts_file.add(edited, "standup", aliases=["Chore"])
    assert done.ontology.ignored == ("Stand-in",)
    assert "ignore:\n  - Stand-in\n" in edited.read_text()
    assert concepts_file.remove(edited, "standup").action == "removed"


def test_ignoring_makes_the_file(file: Path) -> None:
    assert concepts_file.remove(file, "standup").action == "ignored"
    assert file.read_text().endswith("\nignore: [standup]\n")
    assert concepts_file.add(file, "Wren").action == "added"
    assert concepts_file.read(file).ignored == ("standup",)


def test_asking_again_for_what_is_there_writes_nothing(edited: Path) -> None:
    before = edited.stat()
    assert concepts_file.add(edited, "Kubernetes", ["k8s"], kind="tool").action == "unchanged"
    assert concepts_file.add(edited, "database", parents=["Tools"]).action == "unchanged"
    after = edited.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_parent_without_an_entry_gets_one_when_it_is_named(file: Path) -> None:
    file.write_text("concepts:\n  wren: {parents: [Machine]}\n")
    assert concepts_file.add(file, "machine", kind="thing").slug == "machine"
    assert file.read_text() == ("concepts:\n  wren: {parents: [Machine]}\n  machine: {name: Machine, kind: thing}\n")
    file.write_text("concepts:\n  wren: {parents: [Machine]}\n")
    concepts_file.remove(file, "machine")
    assert concepts_file.read(file).concepts == {"wren": CuratedConcept("wren", "wren")}
    file.write_text("concepts:\n  wren: {parents: [Machine]}\n  lark: {}\n")
    concepts_file.remove(file, "wren")
    assert concepts_file.read(file).concepts == {"lark": CuratedConcept("lark", "lark")}


@pytest.mark.parametrize(
    ("name", "options", "cause"),
    [
        *table("ontology.tsv", "a change that makes no sense changes nothing", str, json.loads, str),
        ("x" * 81, {}, "longer than 80"),
        ("Wren", {"weight": float("nan")}, "a weight must be a number from 0 to 10"),
        ("Wren", {"aliases": ["\ud800x"]}, "cannot be printed"),
    ],
)
def test_a_change_that_makes_no_sense_changes_nothing(edited: Path, name: str, options: dict, cause: str) -> None:
    with pytest.raises(OntologyError) as caught:
        concepts_file.add(edited, name, **options)
    assert cause in str(caught.value)
    assert str(caught.value).startswith(f"{edited}: ")
    assert edited.read_text() == HAND_EDITED


@pytest.mark.parametrize("text", table("ontology.tsv", "every layout is changed in place"))
def test_every_layout_is_changed_in_place(file: Path, text: str) -> None:
    file.write_bytes(text.encode())
    comments = [line[line.index("#") :] for line in text.splitlines() if "#" in line]
    concepts_file.add(file, "Mira", ["Mi ra", "[x]: y"], ["Person: one"], "human, being", ["Wren #2"], 2.5)
    concepts_file.remove(file, "Chores")
    concepts_file.add(file, "Wren", ["no"], ["person one"])
    ontology = concepts_file.read(file)
    mira = ontology.concepts["mira"]
    assert {"Mi ra", "[x]: y"} <= set(mira.spellings)
    assert (mira.parents, mira.kind, mira.related, mira.weight) == (
        ("person-one",), "human, being", ("wren-2",), 2.5
    )  # fmt: skip
    assert ontology.concepts["wren"] == CuratedConcept("wren", "Wren", ("no",), ("person-one",))
    assert "Chores" in ontology.ignored
    for own in ontology.concepts:
        if own in concepts_file.read(file).concepts:
            concepts_file.remove(file, own)
    concepts_file.add(file, "chores", kind="")
    assert concepts_file.read(file).concepts == {"chores": CuratedConcept("chores", "chores")}
    after = file.read_bytes().decode()
    assert all(comment in after for comment in comments if "as a child" not in comment)
    assert after.count("\r\n") in (0, after.count("\n"))


def test_a_kind_can_be_taken_away(edited: Path) -> None:
    concepts_file.add(edited, "mira", kind="")
    assert concepts_file.read(edited).concepts["mira"].kind is None
    concepts_file.add(edited, "surreal", kind=" ", related=["mira"])
    assert concepts_file.read(edited).concepts["surrealdb"].kind is None
    assert "  mira: {}\n" in edited.read_text()
    assert "# what people also call it" in edited.read_text()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "elsewhere.yaml", tmp_path / "concepts.yaml"
    target.write_text(HAND_EDITED)
    link.symlink_to(target)
    concepts_file.add(link, "Wren")
    assert link.is_symlink()
    assert "wren" in concepts_file.read(target).concepts


def test_the_lock_lies_in_the_folder_of_the_workspace_that_is_ours(edited: Path) -> None:
    concepts_file.add(edited, "Wren")
    assert {path.name for path in edited.parent.iterdir()} == {"concepts.yaml", atomic.OWN_FOLDER}
    with atomic.locked(edited, timeout=0, root=edited.parent):  # and is let go
        assert concepts_file.read(edited).find("Wren")


def test_writers_at_the_same_time_lose_nothing(edited: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: concepts_file.add(edited, f"machine {i}x", parents=["Machine"]), range(24)))
    ontology = concepts_file.read(edited)
    assert {f"machine-{i}x" for i in range(24)} | {"machine", "mira"} <= set(ontology.concepts)


# -- any sequence of changes ----------------------------------------------------------------------

TEXT = st.one_of(
    st.sampled_from(["Wren", "wrens", "k8s", "Kubernetes", "a: b", "[x]", "{y}", "no", "1.5", "#tag", "é 東", "- z", "'q"]),
    st.text(min_size=1, max_size=8),
)  # fmt: skip
CHANGE = st.one_of(
    st.tuples(st.just("add"), TEXT, st.lists(TEXT, max_size=2), st.lists(TEXT, max_size=2), st.lists(TEXT, max_size=2)),
    st.tuples(st.just("remove"), TEXT),
)


@examples(60)
@given(changes=st.lists(CHANGE, max_size=8), start=st.sampled_from(["", HAND_EDITED, "concepts: {}", "{ignore: [a]}"]))
def test_any_changes_are_refused_or_read_back(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple], start: str
) -> None:
    file = tmp_path_factory.mktemp("any") / "concepts.yaml"
    file.write_text(start)
    remarks = [line for line in start.splitlines() if line.lstrip().startswith("#")]
    for change in changes:
        before = file.read_bytes()
        try:
            if change[0] == "add":
                done = concepts_file.add(file, change[1], change[2], change[3], related=change[4])
                assert done.slug in done.ontology.concepts
            else:
                done = concepts_file.remove(file, change[1])
                assert done.slug not in done.ontology.concepts
        except OntologyError as error:
            refused = "laid out" not in str(error)
            assert refused and file.read_bytes() == before
        else:
            assert concepts_file.read(file) == done.ontology
    assert all(remark in file.read_text().splitlines() for remark in remarks)
