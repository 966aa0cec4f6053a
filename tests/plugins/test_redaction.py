"""Secrets never reach the index, line numbers stay, and ordinary notes are left alone.

Tokens are put together from pieces here, so that scanners for leaked secrets stay calm.
"""

from __future__ import annotations

import hashlib
import re
import time
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mnemonic import Mnemonic
from properties import examples
from tables import table

from benchmarks import redaction
from openclaw_memory import example
from openclaw_memory.model import Unit
from openclaw_memory.plugins.redact import Redaction, redact_lines, redact_text, seeds
from openclaw_memory.plugins.redact.shapes import rules


def letters(n: int) -> str:
    return ("aB3dE5gH7jK9mN2pQ4rS6tU8vW0xY1z" * 10)[:n]


def upper(n: int) -> str:
    return letters(2 * n).upper()[:n]


HEX = "9f8e7d6c" + "5b4a3210"
BEGIN, END = ("-" * 5 + word + " PRIVATE KEY" + "-" * 5 for word in ("BEGIN", "END"))

TOKENS = {
    "anthropic-key": "sk-" + "ant-" + "api03-" + letters(40) + "_-" + letters(20),
    "openai-key": "sk-" + "proj-" + letters(48),
    "openai-key ": "sk-" + letters(48),
    "github-token": "gh" + "p_" + letters(36),
    "github-token ": "gh" + "s_" + letters(36),
    "github-token  ": "github" + "_pat_" + letters(22) + "_" + letters(59),
    "gitlab-token": "gl" + "pat-" + letters(20),
    "aws-access-key": "AK" + "IA" + upper(16),
    "aws-access-key ": "AS" + "IA" + upper(16),
    "google-key": "AI" + "za" + letters(35),
    "slack-token": "xo" + "xb-" + "123456789012-" + letters(24),
    "stripe-key": "sk" + "_live_" + letters(24),
    "stripe-key ": "rk" + "_live_" + letters(24),
    "telegram-token": "123456789" + ":A" + "A" + letters(33),
    "discord-token": "MT" + letters(22) + "." + letters(6) + "." + letters(38),
    "npm-token": "np" + "m_" + letters(36),
    "pypi-token": "py" + "pi-" + "AgEI" + letters(80),
    "huggingface-token": "h" + "f_" + letters(34),
    "jwt": "ey" + "J" + letters(20) + ".ey" + "J" + letters(40) + "." + letters(43),
}


@pytest.mark.parametrize("name", TOKENS)
@pytest.mark.parametrize("frame", ["{}", "- the key is `{}`, keep it", '"x": "{}",', "see ({}).", "| a | {} |"])
def test_a_provider_token_is_redacted_wherever_it_stands(name: str, frame: str) -> None:
    assert redact_text(frame.format(TOKENS[name])) == frame.format(f"[redacted:{name.strip()}]")


@pytest.mark.parametrize(
    ("line", "redacted"),
    [
        *table("redaction.tsv", "only the value of an assignment is redacted"),
        (f'api_key = "{HEX[:12]}"', 'api_key = "[redacted:api-key]"'),
        (f"X-Api-Key: {HEX}", "X-Api-Key: [redacted:api-key]"),
        (f"clientSecret: {HEX}", "clientSecret: [redacted:secret]"),
        (f"access_token={HEX}&x=1", "access_token=[redacted:token]"),
        (f"secret: token: {HEX}", "secret: token: [redacted:token]"),
        (
            "aws_secret_access_key " + letters(40),
            "aws_secret_access_key [redacted:aws-secret-key]",
        ),
        ("Authorization: Bearer " + letters(24), "Authorization: Bearer [redacted:bearer-token]"),
        (
            f"https://host/ical/m%40x/private-{HEX}/basic.ics",
            "https://host/ical/m%40x/private-[redacted:calendar-address]/basic.ics",
        ),
        (f"webcal://host/published/2/{HEX}{HEX}", "webcal://host/published/2/[redacted:calendar-address]"),
        (f"webcal://host/{HEX}{HEX}.ics", "webcal://host/[redacted:calendar-address].ics"),
        (
            f"https://host/owa/{HEX}{HEX}@x.org/{HEX}{HEX}/calendar.ics",
            "https://host/owa/[redacted:calendar-address]/[redacted:calendar-address]/calendar.ics",
        ),
    ],
)
def test_only_the_value_of_an_assignment_is_redacted(line: str, redacted: str) -> None:
    assert redact_text(line) == redacted


def key_block(label: str, *head: str, indent: str = "") -> list[str]:
    lines = [
        BEGIN.replace("PRIVATE KEY", label),
        *head,
        *(letters(64) for _ in range(3)),
        letters(22) + "==",
        END.replace("PRIVATE KEY", label),
    ]
    return [indent + line for line in lines]


@pytest.mark.parametrize(
    ("label", "head"),
    [
        ("PRIVATE KEY", ()),
        ("RSA PRIVATE KEY", ("Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,00", "")),
        ("OPENSSH PRIVATE KEY", ()),
        ("PGP PRIVATE KEY BLOCK", ("Version: GnuPG v2", "")),
    ],
)
@pytest.mark.parametrize("indent", ["", "> ", "    "])
def test_a_private_key_block_becomes_a_mark_and_empty_lines(label: str, head: tuple[str, ...], indent: str) -> None:
    block = key_block(label, *head, indent=indent)
    if label.startswith("PGP"):
        block.insert(-1, indent + "=aB3d")
    out = redact_lines(["before", *block, "after"])
    assert out == ["before", indent + "[redacted:private-key]", *[""] * (len(block) - 1), "after"]


def test_a_key_block_that_was_cut_off_ends_with_its_last_line() -> None:
    out = redact_lines([*key_block("EC PRIVATE KEY")[:3], "", "That was the key, sorry."])
    assert out == ["[redacted:private-key]", "", "", "", "That was the key, sorry."]


def test_keys_on_one_line_are_redacted_and_the_rest_stays() -> None:
    key = "\\n".join(key_block("PRIVATE KEY"))
    line = f'{{"private_key": "{key}", "id": 1, "other": "{key}"}}'
    assert redact_text(line) == (
        '{"private_key": "[redacted:private-key]", "id": 1, "other": "[redacted:private-key]"}'
    )


def test_a_long_value_is_redacted_to_its_end() -> None:
    assert redact_text(f"token: {letters(300)} and on") == "token: [redacted:token] and on"


def test_cells_below_a_password_header_are_redacted() -> None:
    table = [
        "| host | Password |", "|---|---|", "| attic | hunter2 |", "| pantry | none |", "", "| a | hunter2 |",
    ]  # fmt: skip
    assert redact_lines(table) == [*table[:2], "| attic | [redacted:password] |", *table[3:]]


def test_the_hook_redacts_text_and_indexed_and_keeps_the_lines_of_a_unit() -> None:
    code = "\n".join(["```", *key_block("PRIVATE KEY"), "```"])
    unit = Unit(code, 3, 10, form="code", indexed="password: hunter2")
    changed = Redaction().openclaw_memory_prepare_unit(unit)
    assert changed is not None
    assert changed.text == "```\n[redacted:private-key]" + "\n" * 5 + "\n```"
    assert changed.indexed == "password: [redacted:password]"
    assert (changed.start_line, changed.end_line, changed.form) == (3, 10, "code")
    assert Redaction().openclaw_memory_prepare_unit(Unit("nothing here", 1, 1)) is None


def test_the_example_workspace_is_not_touched(tmp_path: Path) -> None:
    for path in example.copy_to(tmp_path):
        lines = path.read_text(encoding="utf-8").split("\n")
        assert redact_lines(lines) == lines


PIECES = st.sampled_from(
    [
        *TOKENS.values(), *(needle for rule in rules() for needle in rule.needles[:1]), BEGIN, END, letters(64), "---", "| password |",
        "password", "token", "secret", "api_key", ": ", "=", " ", "'", '"', "`", "|", "@", "/", "hunter2", "--", "\\n",
    ]
)  # fmt: skip
LINES = st.lists(st.lists(PIECES | st.text(max_size=6), max_size=6).map("".join), max_size=8)


@examples(400)
@given(LINES)
def test_redaction_keeps_the_line_count_and_is_idempotent(lines: list[str]) -> None:
    once = redact_lines(lines)
    assert len(once) == len(lines)
    assert redact_lines(once) == once


@examples(300)
@given(st.lists(PIECES | st.text(max_size=6), max_size=8).map("".join))
def test_a_single_line_is_redacted_the_same_with_or_without_the_quick_look(line: str) -> None:
    assert redact_text(line) == "\n".join(redact_lines(line.split("\n")))


@examples(200)
@given(st.sampled_from(sorted(TOKENS)), LINES, LINES)
def test_a_token_is_redacted_among_any_other_lines(name: str, before: list[str], after: list[str]) -> None:
    out = redact_lines([*before, f"- {TOKENS[name]}", *after])
    assert out[len(before)] == f"- [redacted:{name.strip()}]"


@pytest.mark.parametrize(
    "piece", [*table("redaction.tsv", "no input takes more than linear time"), BEGIN, BEGIN + "\n"]
)
def test_no_input_takes_more_than_linear_time(piece: str) -> None:
    def seconds(size: int) -> float:
        text = "private key begin token password secret aws :// " + piece * (size // len(piece))
        start = time.process_time()
        redact_text(text)
        return time.process_time() - start

    # Four times the input may cost some four times as much, not sixteen; small times are noise.
    small = min(seconds(2_048) for _ in range(2))
    assert any(seconds(8_192) < max(9 * small, 0.03) for _ in range(4))


TOKEN = "aB3dE5gH7jK9mN2pQ4rS6tU8vW0xY1zC"


@pytest.mark.parametrize(
    "line",
    [
        *table("redaction.tsv", "what a label announces is redacted"),
        *(f"{label}: {TOKEN}" for label in ("private key", "PrivateKey", "auth-key", "signingKey", "encryption key")),
        *(f"{label}：swordfish9" for label in ("Passwort", "contraseña", "senha", "mot de passe", "пароль", "密码")),
        *(
            f"{label} = swordfish"
            for label in ("パスワード", "비밀번호", "wachtwoord", "hasło", "lösenord", "şifre", "mật khẩu")
        ),
        "bob:$apr1$" + TOKEN,
        "root:$6$" + TOKEN,
        "seed phrase: " + "river " * 11 + "river",
        "| API key | " + TOKEN + " |",
    ],
)
def test_what_a_label_announces_is_redacted(line: str) -> None:
    redacted = redact_text(line)
    assert "[redacted:" in redacted
    for secret in (TOKEN, "swordfish", "hunter2", "letmein", "4711", "s3cret", "s#cret", "S3cret", "river"):
        assert secret not in redacted


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("SG." + letters(22) + "." + letters(43), "sendgrid-key"), ("gs" + "k_" + letters(52), "groq-key"),
        ("xa" + "i-" + letters(80), "xai-key"), ("pp" + "lx-" + letters(48), "perplexity-key"), ("r8" + "_" + letters(37), "replicate-token"),
        ("nt" + "n_" + letters(46), "notion-token"), ("lin" + "_api_" + letters(40), "linear-key"), ("tsk" + "ey-auth-" + letters(30), "tailscale-key"),
        ("hv" + "s." + letters(90), "vault-token"), ("dck" + "r_pat_" + letters(27), "docker-token"), ("abc8" + "Q~" + letters(34), "azure-secret"),
        ("do" + "p_v1_" + HEX * 4, "digitalocean-token"), ("da" + "pi" + HEX * 2, "databricks-token"), ("sh" + "pat_" + HEX * 2, "shopify-token"),
        ("S" + "K" + HEX * 2, "twilio-key"), ("ke" + "y-" + HEX * 2, "mailgun-key"), ("BS" + "A" + letters(28), "brave-key"),
        ("0x" + HEX * 4, "ethereum-key"), ("DE89 3704 0044 0532 0130 00", "iban"), ("4111 1111 1111 1111", "card-number"),
        ("4111111111111111", "card-number"), ("4111 1111 1111 1112", "card-number"), ("123-45-6789", "person-id"), ("acme" + "_live_" + letters(32), "token"),
        ("Kf3" + letters(40) + "=", "token"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("frame", ["{}", "it is {}, I think", "| a | {} |", "`{}`"])
def test_a_secret_is_told_by_its_shape(line: str, kind: str, frame: str) -> None:
    assert redact_text(frame.format(line)) == frame.format(f"[redacted:{kind}]")


def test_a_webhook_keeps_its_address() -> None:
    line = "https://discord.com/api/webhooks/1234567890123/" + letters(60)
    assert redact_text(line) == "https://discord.com/api/webhooks/1234567890123/[redacted:discord-webhook]"


@pytest.mark.parametrize(
    "text",
    [
        *(TOKENS["github-token"][:20] + mark + TOKENS["github-token"][20:] for mark in ("\u200b", "**", "`", "<wbr>")),
        *("pass\u200bword: swordfish", "ｐａｓｓｗｏｒｄ：ｈｕｎｔｅｒ２", "sk\\_live\\_" + letters(24)),
        *(TOKENS["github-token"][:20] + gap + TOKENS["github-token"][20:] for gap in ("\n", "\n  ", "\n> ")),
        *(
            TOKENS["anthropic-key"][:40] + "\n" + TOKENS["anthropic-key"][40:],
            "Password:\n\n    hunter2",
            "## Wifi password\n\n- hunter2",
        ),
        *("Password:\n```\nswordfish\n```", "API key:\n" + TOKEN),
    ],
)
def test_a_secret_that_is_split_is_redacted(text: str) -> None:
    redacted = redact_text(text)
    assert redacted.count("\n") == text.count("\n")
    left = re.sub(r"\[redacted:[\w-]+\]", "", redacted)
    for secret in (*TOKENS.values(), TOKEN):
        assert not any(secret[n : n + 8] in left for n in range(10, len(secret) - 8))
    assert not re.search("swordfish|hunter2|ｈｕｎｔｅｒ２", left)


@pytest.mark.parametrize("following", ["and then we left", "Tomorrow: tea", "lunch with Mira"])
def test_the_line_behind_a_whole_token_stays(following: str) -> None:
    for token in (TOKENS["github-token"], TOKENS["anthropic-key"]):
        assert redact_lines([f"- {token}", following])[1] == following


def test_what_is_allowed_stays() -> None:
    assert redact_text("password: letmein", ["letmein"]) == "password: letmein"
    assert redact_text("password: letmein2", ["letmein"]) == "password: [redacted:password]"


def test_most_kinds_are_held_in_most_forms_and_ordinary_lines_stay() -> None:
    recalled = redaction.recall(tries=1, seed=3)
    held = sum(sum(forms.values()) >= len(redaction.FORMS) - 1 for forms in recalled.values())
    assert len(recalled) >= 79 and held >= 0.95 * len(recalled)
    assert len(redaction.hits(list(redaction.ordinary(2000, seed=3)))) <= 1


@pytest.mark.parametrize(("line", "secret"), table("redaction.tsv", "what a user logs in with is redacted"))
def test_what_a_user_logs_in_with_is_redacted(line: str, secret: str) -> None:
    assert redact_lines([line]) == [line.replace(secret, "[redacted:login-password]")]


@pytest.mark.parametrize(
    ("line", "secret"), table("redaction.tsv", "a password is redacted and what stands around it stays")
)
def test_a_password_is_redacted_and_what_stands_around_it_stays(line: str, secret: str) -> None:
    assert redact_lines(["# Servers", "", line]) == ["# Servers", "", line.replace(secret, "[redacted:password]")]


WORDS = "abandon ability able about above absent absorb abstract absurd abuse access accident"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        *table("redaction.tsv", "a secret in any form is redacted"),
        ("keypair [" + ", ".join(str(n + 100) for n in range(64)) + "]", "117, 118"),
        (f"| wallet | seed phrase |\n|---|---|\n| hot | {WORDS} |", "absurd"),
        ("Seed phrase:\n" + "\n".join(f"{n}. {word}" for n, word in enumerate(WORDS.split(), 1)), "absurd"),
        ("sk" + "_" + HEX * 3, HEX),
        ("nse" + "c1" + "q2w3e4r5t6y7" * 4 + "q2w3e4r5ty", "t6y7q2w3"),
        ("ctx7" + "sk-550e8400-e29b-41d4-a716-446655440000", "a716"),
    ],
)
def test_a_secret_in_any_form_is_redacted(text: str, secret: str) -> None:
    text = text.replace("⏎", "\n")
    redacted = redact_text(text)
    assert secret not in redacted and "[redacted:" in redacted
    assert redacted.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        *table("redaction.tsv", "harmless things stay"),
        f"between {BEGIN} and {END} is the key",
        "\n".join(key_block("PUBLIC KEY")),
        "data:image/png;base64," + TOKEN,
        f"https://docs.example.org/d/{TOKEN}/edit",
        f"sha256-{TOKEN}",
        f"{TOKEN}.png",
        "tx 0x" + "9f8e7d6c" * 8,
        *("root / etc / passwd", "admin / user2 roles", "/opt/admin/abc123", "admin / moderators"),
    ],
)
def test_harmless_things_stay(text: str) -> None:
    text = text.replace("⏎", "\n")
    assert redact_text(text) == text


#: A phrase in each list, of another length in each, with the checksum that it ends in.
PHRASES = [
    Mnemonic(language).to_mnemonic(bytes(range(7 * n % 50, 7 * n % 50 + 16 + 4 * (n % 5))))
    for n, language in enumerate(Mnemonic.list_languages())
]


@pytest.mark.parametrize("phrase", PHRASES)
@pytest.mark.parametrize(
    "frame", ["{}", "- **{}**", "for the boat: {}.", "| hot | `{}` |", "# Notes\n\n{}\n\nThe end."]
)
def test_a_seed_phrase_needs_no_label(phrase: str, frame: str) -> None:
    redacted = redact_text(frame.format(phrase))
    assert redacted == frame.format("[redacted:seed-phrase]")


@pytest.mark.parametrize("phrase", PHRASES)
@pytest.mark.parametrize("frame", ["{word}", "{n}. {word}", "- [ ] `{word}`"])
def test_a_seed_phrase_in_a_column_needs_no_label(phrase: str, frame: str) -> None:
    words = re.split("[ \u3000]", phrase)
    lines = [frame.format(n=n, word=word) for n, word in enumerate(words, 1)]
    redacted = redact_text("\n".join(["# Boat", "", *lines, "", "The end."])).split("\n")
    assert redacted[2:-2] == [frame.format(n=n, word="[redacted:seed-phrase]") for n in range(1, len(words) + 1)]
    assert redacted[0] == "# Boat" and redacted[-1] == "The end."


def test_a_word_of_any_list_may_be_one_by_its_length() -> None:
    assert all(map(seeds._may_be_listed, frozenset().union(*seeds._lists())))


@pytest.mark.parametrize("between", [" 2. ", ", ", "  "])
def test_a_seed_phrase_may_have_numbers_and_commas_between_its_words(between: str) -> None:
    assert "absurd" not in redact_text(f"we wrote down {between.join(WORDS.split())} on paper")


def test_the_rules_of_gitleaks_are_as_they_are_there() -> None:
    folder = files("openclaw_memory.plugins.redact")
    rules_there = folder.joinpath("gitleaks.toml").read_bytes()
    assert hashlib.sha256(rules_there).hexdigest() == "e163e53b9e7e8a8511e77271e2b323ed057759542a6d988258afe3a1fa329caf"
    assert "MIT License" in folder.joinpath("gitleaks.LICENSE.txt").read_text()
    assert len(rules()) > 250
    for rule in rules():
        re.compile(rule.pattern.pattern, re.ASCII)
