"""What redaction finds stays out of the index, of file names and of what an older version wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fakes import Notes, ingested, open_memory
from tables import table

from openclaw_memory import Memory
from openclaw_memory.config.settings import Settings
from openclaw_memory.errors import SettingsError
from openclaw_memory.index.opening import url_of
from openclaw_memory.plugins import redact
from openclaw_memory.summarise.builder import fingerprints

TOKEN = "gh" + "p_" + "aB3dE5gH7jK9mN2pQ4rS6tU8vW0xY1zC2dE4"


def everything(memory: Memory) -> str:
    return repr([memory.search(text, mode="keyword") for text in ("harbour", TOKEN)]) + repr(memory.concepts.list())


def aged(memory: Memory) -> None:
    """Have the index look as one of an older version does."""
    store: Any = memory.store
    with store._db.write() as c:
        c.execute("UPDATE meta SET value = 'older' WHERE key = 'extraction'")


def test_a_file_whose_name_holds_a_secret_is_left_out_and_not_named(notes: Notes) -> None:
    notes.write(f"memory/{TOKEN}.md", "- The harbour is closed.\n")
    notes.write("memory/password-reset.md", "- The harbour opens in May.\n")
    with open_memory(notes) as memory:
        report = memory.ingest()
        assert [(skip.path, skip.reason) for skip in report.skipped] == [
            ("memory/[redacted:github-token].md", "its name holds a secret; rename it")
        ]
        assert TOKEN not in repr(report) and TOKEN not in everything(memory).replace(f"query='{TOKEN}'", "")
        assert "opens in May" in everything(memory)


def test_what_an_older_version_indexed_is_redacted(notes: Notes, monkeypatch: Any) -> None:
    notes.write("memory/2026-02-16.md", "- The harbour password: swordfish\n")
    with monkeypatch.context() as older:
        older.setattr(redact, "redact_lines", lambda lines, *allow: list(lines))
        older.setattr(redact, "redact_text", lambda text, *allow: text)
        with ingested(notes) as memory:
            assert "swordfish" in everything(memory)
            aged(memory)
    with ingested(notes) as memory:
        assert "swordfish" not in everything(memory) and "[redacted:password]" in everything(memory)


def test_what_an_older_version_captured_is_redacted_in_the_file(notes: Notes) -> None:
    path: Path = notes.root / "memory/captures/2026-03-04.md"
    notes.write("memory/captures/2026-03-04.md", "# Captured\n\n- The harbour password: swordfish\n")
    notes.write("memory/2026-03-04.md", "- The boat password: swordfish\n")
    with ingested(notes) as memory:
        memory.ingest()
    assert path.read_text() == "# Captured\n\n- The harbour password: [redacted:password]\n"
    assert "swordfish" in (notes.root / "memory/2026-03-04.md").read_text(), "a person's file stays as it is"


def test_the_value_of_a_fact_is_redacted_by_what_its_predicate_calls_it(notes: Notes) -> None:
    notes.write("facts.yaml", "- {id: f-1, subject: pier, predicate: contraseña, object: swordfish9}\n")
    with ingested(notes) as memory:
        memory.facts.add("NAS", "password", "swordfish")
        memory.facts.add("NAS password", "is", "swordfish7")
        memory.facts.add("NAS", "status", "afloat")
        text = repr(memory.facts.query(all=True)) + repr(memory.sql("FROM facts"))
    assert "swordfish" not in text and "swordfish9" in (notes.root / "facts.yaml").read_text()
    assert (notes.root / "facts.yaml").read_text().count("swordfish") == 1, "what a person wrote stays"
    assert "afloat" in text and "[redacted:password]" in text


def test_a_secret_as_the_id_of_a_fact_is_replaced_and_still_names_it(notes: Notes) -> None:
    notes.write("facts.yaml", f"- {{id: {TOKEN}, subject: heron, predicate: lives in, object: marsh}}\n")
    with ingested(notes) as memory:
        (row,) = memory.facts.query(all=True).rows
        memory.facts.remove(row.id)
        assert not memory.facts.query().rows
        assert TOKEN not in repr(memory.facts.query(all=True)) + repr(memory.sql("FROM facts"))


def test_get_shows_what_search_shows(notes: Notes) -> None:
    sheet = "reads sheet 1bKq7RtWmE2xZpLs9VdYhN4cJgUo6AfXi3TyHrQwMn8K"
    notes.write("memory/2026-02-16.md", f"- The harbour password: swordfish\n- {TOKEN}\n- The harbour {sheet}\n")
    with ingested(notes) as memory:
        assert memory.get("memory/2026-02-16.md", 1, 3).text.split("\n") == [
            "- The harbour password: [redacted:password]", "- [redacted:github-token]", f"- The harbour {sheet}",
        ]  # fmt: skip
        assert sheet in everything(memory)


def test_what_an_older_version_took_from_the_files_of_facts_and_concepts_is_redacted(
    notes: Notes, monkeypatch: Any
) -> None:
    notes.write("facts.yaml", "- {id: f-1, subject: pier, predicate: password, object: swordfish9}\n")
    notes.write("concepts.yaml", f"concepts:\n  {TOKEN}: {{kind: tool}}\n")
    with monkeypatch.context() as older:
        older.setattr(redact, "redact_lines", lambda lines, *allow: list(lines))
        older.setattr(redact, "redact_text", lambda text, *allow: text)
        with ingested(notes) as memory:
            assert "swordfish9" in repr(memory.sql("FROM facts")) and TOKEN in repr(memory.sql("FROM concepts"))
            aged(memory)
    with ingested(notes) as memory:
        assert "swordfish9" not in repr(memory.sql("FROM facts")) and TOKEN not in repr(memory.sql("FROM concepts"))


def test_facts_whose_file_is_deleted_before_an_upgrade_are_gone(notes: Notes) -> None:
    notes.write("facts.yaml", "- {id: f-1, subject: heron, predicate: lives in, object: marsh}\n")
    with ingested(notes) as memory:
        assert memory.facts.query(all=True).rows
        aged(memory)
    (notes.root / "facts.yaml").unlink()
    with ingested(notes) as memory:
        assert not memory.facts.query(all=True).rows


def test_a_change_of_what_is_allowed_has_files_read_again(notes: Notes) -> None:
    notes.write("memory/2026-02-16.md", "- The harbour password: swordfish\n")
    with ingested(notes) as memory:
        assert "swordfish" not in everything(memory)
    with ingested(notes, redaction__allow=["swordfish"]) as memory:
        assert "swordfish" in everything(memory)
    with ingested(notes) as memory:
        assert "swordfish" not in everything(memory)


def test_a_note_that_was_seen_to_hold_no_secret_is_read_without_looking_again(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write("memory/a.md", "- The harbour is closed.\n")
    notes.write("memory/b.md", "- The harbour password: swordfish\n")
    looked: list[str] = []
    redact_lines = redact.redact_lines

    def noted(lines: Any, *allow: Any) -> list[str]:
        looked.extend(lines)
        return redact_lines(lines, *allow)

    with ingested(notes):
        pass
    monkeypatch.setattr(redact, "redact_lines", noted)
    with open_memory(notes) as memory:
        assert memory.get("memory/a.md").text == "- The harbour is closed."
        assert looked == []
        assert memory.get("memory/b.md").text == "- The harbour password: [redacted:password]"
        notes.write("memory/a.md", "- The harbour password: swordfish\n")
        assert memory.get("memory/a.md").text == "- The harbour password: [redacted:password]"
        assert len(looked) > 1
    looked.clear()
    notes.write("memory/a.md", "- The harbour is closed.\n")
    monkeypatch.setattr(redact, "VERSION", redact.VERSION + 1)
    with open_memory(notes) as memory:
        assert memory.get("memory/a.md").text == "- The harbour is closed."
    assert looked  # by the rules of another version


def test_summaries_are_made_again_by_another_redaction(monkeypatch: Any) -> None:
    before = fingerprints(Settings())
    assert fingerprints(Settings().with_values({"redaction.allow": ["swordfish"]})) != before
    monkeypatch.setattr(redact, "VERSION", redact.VERSION + 1)
    assert fingerprints(Settings()) != before


@pytest.mark.parametrize("named", table("redaction_index.tsv", "a mistyped url is no name of a file"))
def test_a_mistyped_url_is_no_name_of_a_file(named: str) -> None:
    for settings, db in (
        (Settings(), named),
        (Settings(), Path(named)),
        (Settings().with_values({"store.path": named}), None),
    ):
        with pytest.raises(SettingsError, match="no URL of PostgreSQL") as caught:
            url_of(settings, db)
        assert "swordfish" not in str(caught.value)
    assert url_of(Settings(), "C:/notes/a@b.duckdb") == url_of(Settings(), "my: notes/a.duckdb") == ""
