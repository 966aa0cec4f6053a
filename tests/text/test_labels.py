"""What a heading says of its lines: a subject, or only when and of what kind they are."""

import pytest
from tables import table

from openclaw_memory.text.labels import is_label, names_subject


@pytest.mark.parametrize("heading", table("labels.tsv", "a heading of labels dates and signs names no subject"))
def test_a_heading_of_labels_dates_and_signs_names_no_subject(heading: str) -> None:
    assert not names_subject(heading)


@pytest.mark.parametrize("heading", table("labels.tsv", "a heading with a word of its own names a subject"))
def test_a_heading_with_a_word_of_its_own_names_a_subject(heading: str) -> None:
    assert names_subject(heading)


def test_a_label_is_one_in_any_case_and_without_its_accents() -> None:
    assert is_label("DECISAO")
    assert is_label("Entscheidungen")
    assert is_label("下一步")
    assert not is_label("Lisbon")
    assert not is_label("")
