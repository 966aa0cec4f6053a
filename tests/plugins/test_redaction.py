"""Secrets never reach the index, line numbers stay, and ordinary notes are left alone.

Tokens are put together from pieces here, so that scanners for leaked secrets stay calm.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mnemonic import Mnemonic
from properties import examples

from benchmarks import redaction
from openclaw_memory import example
from openclaw_memory.model import Unit
from openclaw_memory.plugins.redact import Redaction, redact_lines, redact_text, rules


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
        ("password: hunter2", "password: [redacted:password]"),
        ("- **Password:** hunter2 (since May)", "- **Password:** [redacted:password] (since May)"),
        ("the wifi password is `hunter2`.", "the wifi password is `[redacted:password]`."),
        ('{"password": "correct horse 7"}', '{"password": "[redacted:password]"}'),
        ("DB_PASSWORD=swordfish", "DB_PASSWORD=[redacted:password]"),
        ("export SMTP_PASS=swordfish", "export SMTP_PASS=[redacted:password]"),
        ("mysql --password hunter2 -u x", "mysql --password [redacted:password] -u x"),
        ("passphrase = 'tall-green-4'", "passphrase = '[redacted:password]'"),
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
        ("authorization: Basic dXNlcjpwYXNz", "authorization: Basic [redacted:authorization]"),
        ("git clone https://user:pass@host/x", "git clone https://user:[redacted:url-password]@host/x"),
        ("redis://:p@ss@cache:6379/0", "redis://:[redacted:url-password]@cache:6379/0"),
        ("https://host/feed?token=otter-lamp-quay-42", "https://host/feed?token=[redacted:url-token]"),
        ("https://host/feed?a=1&sig=otter-lamp-quay-4&b=2", "https://host/feed?a=1&sig=[redacted:url-token]&b=2"),
        ("[f](https://host/?X-Sig=ab12cd34ef56%2B)", "[f](https://host/?X-Sig=[redacted:url-token])"),
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


@pytest.mark.parametrize(
    "line",
    [
        "the password is in the vault",
        "token: 4 characters",
        "Password: see the vault on the attic",
        "password: required",
        "password: 12-characters at least",
        "password = getpass.getpass()",
        'api_key = os.environ["OPENAI_API_KEY"]',
        "DB_PASSWORD=${DB_PASSWORD}",
        "DB_PASSWORD=changeme",
        "PASSWORD_FILE=/run/secrets/db",
        "max_tokens: 4096, token_count: 128000",
        "secret: QX-7714 tracks it, api key: rotated on 2026-03-05",
        "the token budget is 2k; a secret ingredient: basil-and-lemon2",
        "if password == 'x' and token != other:",
        "Bearer of bad news, authorization: Bearer <token>",
        "the task-force used sk-learn and a risk-assessment-of-the-year-2026-with-long-name",
        "https://host:8080/a@b and ssh://git@host:22/x and mail JR@example.org",
        "http://$USER:$PASS@host/ is a template",
        "https://host/?token=YOUR_TOKEN and https://host/?auth=oauth2 and https://host/?token=refresh",
        "https://host/?sig={signature} and ?token=${TOKEN_OF_THE_DAY} and ?api_key=<your-api-key>",
        "files/private-notes-of-the-house/a.md and https://host/team-offsite-calendar-2026-spring.ics",
        "commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12 rotates the secret",
        f"between {BEGIN} and {END} is the key",
        "10.0.0.17 QX-7714 v2.3.1 retryBudget max_retries 550e8400-e29b-41d4-a716-446655440000",
    ],
)
def test_prose_about_secrets_is_left_alone(line: str) -> None:
    assert redact_text(line) == line


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


def test_a_public_key_stays() -> None:
    block = key_block("PUBLIC KEY")
    assert redact_lines(block) == block


def test_cells_below_a_password_header_are_redacted() -> None:
    table = [
        "| host | Password |",
        "|---|---|",
        "| attic | hunter2 |",
        "| pantry | none |",
        "",
        "| a | hunter2 |",
    ]
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
        *TOKENS.values(),
        *(needle for rule in rules() for needle in rule.needles[:1]),
        *(
            "password",
            "token",
            "secret",
            "api_key",
            ": ",
            "=",
            " ",
            "'",
            '"',
            "`",
            "|",
            "@",
            "/",
            "hunter2",
            "--",
        ),
        *(
            BEGIN,
            END,
            letters(64),
            "---",
            "| password |",
            "\\n",
        ),
    ]
)
LINES = st.lists(st.lists(PIECES | st.text(max_size=6), max_size=6).map("".join), max_size=8)


@examples(400)
@given(LINES)
def test_redaction_keeps_the_line_count_and_is_idempotent(lines: list[str]) -> None:
    once = redact_lines(lines)
    assert len(once) == len(lines)
    assert redact_lines(once) == once


@examples(200)
@given(LINES)
def test_text_keeps_its_line_feeds(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert redact_text(text).count("\n") == text.count("\n")


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
    "piece",
    [
        *(
            "a",
            "-",
            "=",
            "aB3/",
            "://",
            "://a:",
            BEGIN,
            BEGIN + "\n",
        ),
        *(
            "token:",
            "password: ",
            "password=a1",
            "secret",
            "secret ",
            "aws",
            "sk-",
            "sk-proj-",
            "eyJ",
            "MT",
            "MT.",
        ),
        *(
            "eyJaaaaaaaa.",
            "bearer ",
            "Bearer a",
            "authorization:",
            "github_pat_",
            "ghp_",
            "123456789:AA",
            "pypi-",
        ),
        *(
            "a*",
            "密码是",
            "пароль для ",
            "password for ",
            "pin (",
            "login: a/",
            "root/",
            "a:1B@",
            "0000 ",
            "AA00 ",
            "://x:y",
        ),
        *("pass\u200b", "aB3/://", "ghp_\n", "password:\n", "$1$", "river ", "seed phrase: ", "aB3dE5gH7jK9mN2pQ4rS "),
        *(
            "password abcd abcd abcd abcd ",
            "пароль роутера: ",
            "cookie: a=1;",
            "mysql -u x -p",
            "backup code 12ab ",
            "key [1, 2,",
            "otter-lamp-",
            "password is otter-lamp-42 ",
            "abandon ability ",
            "abandon ability about above absent absorb abstract absurd abuse access accident zx ",
            "abandon\n",
            "wifi: a / ",
            "door code 1-",
            "&token=a-b-",
            "?sig=",
            "/private-0a",
            "/0aB1.ics",
            "/0aB1",
        ),
        *("| password |", "|\n|---|\n", "b3BlbnNzaC1rZXktdj", "`", '"', '": "', "--token ", "--a-", "_", "["),
    ],
)
def test_no_input_takes_more_than_linear_time(piece: str) -> None:
    def seconds(size: int) -> float:
        text = "private key begin token password secret aws :// " + piece * (size // len(piece))
        start = time.process_time()
        redact_text(text)
        return time.process_time() - start

    # Four times the input may cost some four times as much, not sixteen; small times are noise.
    small = min(seconds(16_384) for _ in range(4))
    assert min(seconds(65_536) for _ in range(4)) < max(9 * small, 0.1)


def test_every_rule_has_a_name_and_a_pattern_on_one_line() -> None:
    for rule in rules():
        assert re.fullmatch(r"[a-z0-9-]+", rule.name)
        assert all(needle == needle.lower() for needle in rule.needles)
        assert rule.pattern.search("\n\n") is None


TOKEN = "aB3dE5gH7jK9mN2pQ4rS6tU8vW0xY1zC"


@pytest.mark.parametrize(
    "line",
    [
        *(f"{label}: {TOKEN}" for label in ("private key", "PrivateKey", "auth-key", "signingKey", "encryption key")),
        *(f"{label}：swordfish9" for label in ("Passwort", "contraseña", "senha", "mot de passe", "пароль", "密码")),
        *(
            f"{label} = swordfish"
            for label in ("パスワード", "비밀번호", "wachtwoord", "hasło", "lösenord", "şifre", "mật khẩu")
        ),
        *(
            "密码是hunter2x",
            "パスワードは hunter2 です",
            "비밀번호는 hunter2",
            "das Passwort ist hunter2",
            "le mot de passe est hunter2",
        ),
        *(
            "password: letmein",
            "**Password**: swordfish",
            "PIN: 4711",
            "the password is hunter2",
            "| Password | swordfish |",
        ),
        *(
            "login: admin / s3cret99",
            "root/s#cret99",
            "curl -u bob:swordfish https://x.example",
            "machine h login bob password swordfish",
        ),
        *("bob:$apr1$" + TOKEN, "root:$6$" + TOKEN, "deploy:S3cret!@db.example.org"),
        *("the password for the NAS is hunter2", "password (attic): swordfish", "admin_password1=swordfish"),
        *("seed phrase: " + "river " * 11 + "river", "| API key | " + TOKEN + " |"),
    ],
)
def test_what_a_label_announces_is_redacted(line: str) -> None:
    redacted = redact_text(line)
    assert "[redacted:" in redacted
    for secret in (TOKEN, "swordfish", "hunter2", "letmein", "4711", "s3cret", "s#cret", "S3cret", "river"):
        assert secret not in redacted


@pytest.mark.parametrize(
    "line",
    [
        *("the deploy passphrase is correct horse battery staple", "the code phrase is blue bunny"),
        *("the password is wrong!", "the password is case-sensitive", "password: see the vault", "PIN: the board"),
        *("the token is expired", "token limit is 128000", "spin: 1234", "我的密码：我忘记了", "| password | string |"),
        *("| password | notes |\n|---|---|", "ship the compass and pass 3 of 5 tests", "login: see the wiki"),
        *(
            "data:image/png;base64," + TOKEN,
            f"https://docs.example.org/d/{TOKEN}/edit",
            f"sha256-{TOKEN}",
            f"{TOKEN}.png",
        ),
        *("src/a1B2c3D4e5F6g7H8i9J0k1.py", "call_aB3dE5gH7jK9mN2pQ4rS6t", "tx 0x" + "9f8e7d6c" * 8, "1760000000000"),
    ],
)
def test_what_only_looks_a_little_like_a_secret_stays(line: str) -> None:
    assert redact_text(line) == line


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
        ("4111111111111111", "card-number"), ("4111 1111 1111 1112", "card-number"), ("123-45-6789", "ssn"), ("acme" + "_live_" + letters(32), "token"),
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


def test_what_is_allowed_stays() -> None:
    assert redact_text("password: letmein", ["letmein"]) == "password: letmein"
    assert redact_text("password: letmein2", ["letmein"]) == "password: [redacted:password]"


def test_most_kinds_are_held_in_most_forms_and_ordinary_lines_stay() -> None:
    found = redaction.recall(tries=1, seed=3)
    held = sum(sum(forms.values()) >= len(redaction.FORMS) - 1 for forms in found.values())
    assert len(found) >= 79 and held >= 0.95 * len(found)
    assert len(redaction.hits(list(redaction.ordinary(2000, seed=3)))) <= 1


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ("SSH: root / 4711abXq", "4711abXq"),
        ("- VPS: `root@10.0.0.7` / `s3cretPw`", "s3cretPw"),
        ("Вход: ubuntu / Blau-Meer99!", "Blau-Meer99!"),
        ("登录：admin / k9mm2PPq", "k9mm2PPq"),
    ],
)
def test_what_a_user_logs_in_with_is_redacted(line: str, secret: str) -> None:
    assert redact_lines([line]) == [line.replace(secret, "[redacted:login-password]")]


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ("Old server credentials: 10.0.0.7 jr/KMq4wTzRp771 — retired", "KMq4wTzRp771"),
        ("- **Zugangsdaten:** boot.example.org, mira / Xq77tRRe", "Xq77tRRe"),
        ("Доступ: `10.0.0.7:22` root:KMq4wTzRp771", "KMq4wTzRp771"),
        ("登录：10.0.0.7 mira/KMq4wTzRp771", "KMq4wTzRp771"),
        ("- **Demo**: mira@example.org / boathouse417", "boathouse417"),
        ("- **Демо**: mira@example.org / boathouse417", "boathouse417"),
        ("테스트 계정: mira@example.org / boathouse417", "boathouse417"),
        ("デモアカウント：mira@example.org / boathouse417", "boathouse417"),
    ],
)
def test_where_and_as_whom_somebody_logs_in_leads_to_the_password(line: str, secret: str) -> None:
    assert redact_lines([line]) == [line.replace(secret, "[redacted:password]")]


@pytest.mark.parametrize(
    "line",
    [
        "Demo: mira@example.org / Thursday",
        "Login: 10.0.0.7 nginx/1.25.3",
        "Доступ: boot.example.org docs/setup",
        "Account: example.org jr/notes",
        "Демо: вторник / среда",
    ],
)
def test_what_stands_behind_an_address_and_is_no_password_stays(line: str) -> None:
    assert redact_lines([line]) == [line]


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ("> NAS (attic): mira / Xq77tRRe9k", "Xq77tRRe9k"),
        ("- **Wetterstation:** `osgood` / `k9Mm2PPq7x`", "k9Mm2PPq7x"),
        ("Роутер: mira / Xq77tRRe9k — с марта", "Xq77tRRe9k"),
        ("ルーター：mira / Xq77tRRe9k", "Xq77tRRe9k"),
        ("grafana: guest / 9blau7meer", "9blau7meer"),
    ],
)
def test_who_logs_in_to_a_service_and_with_what_needs_no_label(line: str, secret: str) -> None:
    assert redact_lines(["# Servers", "", line]) == ["# Servers", "", line.replace(secret, "[redacted:password]")]


@pytest.mark.parametrize(
    "line",
    [
        "Berlin: Mitte / Kreuzberg",
        "Roles: admin / user2",
        "Sizes: small / 38x12x90",
        "Boards: Pi5 / ESP32S3",
        "Builds: release / 2026.3.14",
        "Model: llama / 70B-instruct",
        "Screens: user / settings / profile2b",
        "Zeiten: admin / 8:30-17:00",
        "Frameworks: react19 / nextjs15x",
    ],
)
def test_two_things_behind_a_name_stay(line: str) -> None:
    assert redact_lines([line]) == [line]


@pytest.mark.parametrize(
    "line", ["root / etc / passwd", "admin / user2 roles", "/opt/admin/abc123", "admin / moderators"]
)
def test_words_behind_a_role_stay(line: str) -> None:
    assert redact_lines([line]) == [line]


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ("- FTP 21 → `topaz`/`moon2006`, in use", "moon2006"),
        ("管理画面: `kei` / `moon2006`", "moon2006"),
        ("Админка → `mira`:`moon2006`", "moon2006"),
        ("Backend http://10.0.0.1/ (admin/moon987)", "moon987"),
        ("路由器（root/moon987）", "moon987"),
        ("logged in with password `moon2006` today", "moon2006"),
        ("ブラウザのパスワード `moon2006` は使えない", "moon2006"),
        ("пароль `moon2006` больше не нужен", "moon2006"),
        ("mật khẩu `moon2006` vẫn dùng được", "moon2006"),
        ("user: karl, pass: moon2006", "moon2006"),
        ("the password of the attic NAS was changed to moon2006.", "moon2006"),
        ("密码改成了 moon2006", "moon2006"),
        ("пароль сменили на moon2006", "moon2006"),
        ("la contraseña fue cambiada a moon2006", "moon2006"),
        ("das Passwort wurde geändert auf moon2006", "moon2006"),
    ],
)
def test_a_password_in_quotes_or_brackets_or_after_a_change_is_redacted(line: str, secret: str) -> None:
    assert redact_lines(["# Servers", "", line]) == ["# Servers", "", line.replace(secret, "[redacted:password]")]


@pytest.mark.parametrize(
    "line",
    [
        "Router: `h264`/`h265-x2` decode",
        "Tests pass: 4096 of 4100",
        "First pass: cleanup2 and rest-of-it",
        "models `opus45`/`sonnet45`",
        "the flow behind password `reset_2fa` works",
        "see (admin/page-404) and (admin/settings)",
        "NAS has `disk1`/`disk2`",
        "the password was changed on 2026-03-01",
        "the password is reset to default",
        "SSH keys in `id_rsa`/`id_ed25519`",
    ],
)
def test_other_things_in_quotes_or_brackets_stay(line: str) -> None:
    assert redact_lines([line]) == [line]


WORDS = "abandon ability able about above absent absorb abstract absurd abuse access accident"


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ("contraseña wifi: hunter2x", "hunter2x"),
        ("mot de passe wifi : hunter2x", "hunter2x"),
        ("пароль роутера: hunter2x", "hunter2x"),
        ("סיסמת הראוטר: hunter2x", "hunter2x"),
        ("Zugangsdaten Speicher: mk / kuckuck-turm-99", "kuckuck-turm-99"),
        ("пароль от админки Kale5#dawn", "Kale5#dawn"),
        ("كلمة مرور الشبكة هي Kale5#dawn", "Kale5#dawn"),
        ("הסיסמה של הראוטר היא Kale5#dawn", "Kale5#dawn"),
        ("Mật khẩu wifi là Kale5#dawn", "Kale5#dawn"),
        ("Lösenordet är hunter2", "hunter2"),
        ("Adgangskoden er hunter2", "hunter2"),
        ("Ο κωδικός είναι hunter2", "hunter2"),
        ("PIN der Karte: 4829", "4829"),
        ("the password that we told the guests is still Kale5#dawn, as ever", "Kale5#dawn"),
        ('Passphrase: "correct horse battery staple"', "horse"),
        ("Die Passphrase ist „correct horse battery staple“", "horse"),
        ("passphrase: correct-horse-battery-staple", "horse"),
        ("Gmail app password: abcd efgh ijkl mnop", "ijkl"),
        ("mysql -u root -phunter2x app", "hunter2x"),
        ("sshpass -p 'hunter2x' ssh mk@host", "hunter2x"),
        ("<password>hunter2x</password>", "hunter2x"),
        ("secret_key_base: kmQ8vL2pZ7tR4sWx", "kmQ8vL2pZ7tR4sWx"),
        ("auth token 8df4f50947aaeb26c57d21fa5d328263", "8df4f50947aaeb26c57d21fa5d328263"),
        ("Cookie: sessionid=9f8e7d6c5b4a3f2e; lang=de", "9f8e7d6c5b4a3f2e"),
        ("Set-Cookie: sid=S1d3f8a9b0c1d2e3; Path=/", "S1d3f8a9b0c1d2e3"),
        ("TOTP secret JBSWY3DPEHPK3PXP", "JBSWY3DPEHPK3PXP"),
        ("CVC: 391", "391"),
        ("Wiederherstellungscode: 1234-5678-9012", "5678"),
        ("备份码：482915 538017", "538017"),
        ("BitLocker recovery key R3c0v-ABCDE-12345", "ABCDE"),
        ("2FA backup codes: 482915 538017, 339018", "339018"),
        ("Backup codes:\n- 482915\n- 538017", "538017"),
        ("keypair [" + ", ".join(str(n + 100) for n in range(64)) + "]", "117, 118"),
        (f"| wallet | seed phrase |\n|---|---|\n| hot | {WORDS} |", "absurd"),
        ("Seed phrase:\n" + "\n".join(f"{n}. {word}" for n, word in enumerate(WORDS.split(), 1)), "absurd"),
        ("sk" + "_" + HEX * 3, HEX),
        ("nse" + "c1" + "q2w3e4r5t6y7" * 4 + "q2w3e4r5ty", "t6y7q2w3"),
        ("The password is grain-lamp-otter-quay and nobody knows", "otter"),
        ("Das Passwort vom Speicher lautet laterne-otter-kran-wiese, sagt Mira", "kran"),
        ("mot de passe : phare-loutre-grue-quai puis entrer", "loutre"),
        ("пароль роутера маяк-выдра-кран-причал, не забудь", "выдра"),
        ("la contraseña que usa el faro es faro-nutria-grúa-muelle y ya", "nutria"),
        ("账号 mk 密码 otter-lamp-42", "lamp"),
        ("login: mk, pass: otter-lamp-42", "lamp"),
        ("Benutzer mk, Kennwort otter-lamp-42", "lamp"),
        ("Türcode: 4829157", "4829157"),
        ("door code 83920174 since May", "83920174"),
        ("код домофона 4829", "4829"),
        ("门禁密码：482915#", "482915"),
        ("| gate code | 4829 |", "4829"),
        ("WLAN: Leuchtturm / otter4829x", "otter4829x"),
        ("Wi-Fi: Heron Guest / `lamp2026otter`", "lamp2026otter"),
        ("ctx7" + "sk-550e8400-e29b-41d4-a716-446655440000", "a716"),
    ],
)
def test_a_secret_off_its_label_or_in_a_list_is_redacted(line: str, secret: str) -> None:
    redacted = redact_text(line)
    assert secret not in redacted and "[redacted:" in redacted
    assert redacted.count("\n") == line.count("\n")


@pytest.mark.parametrize(
    "line",
    [
        "password manager: Bitwarden, since March",
        "the password of the pump is rotated every 90days, ticket QX-7714",
        "1Password在2022年融资$1亿时估值约$65亿",
        "we found no password for the heron in src/tide.py:61",
        "Cookie: name=value",
        "cookies: chocolate=yes, oats=no",
        "Backup codes: printed on 2026-03-05",
        "recovery key: in the attic",
        "Recovery phrase:\n- abandon the plan\n- able seamen",
        "TOTP is on since 2026-03-05, 2FA too",
        "CVC is a consonant, a vowel, a consonant; CVC 2026",
        "mysql -u root -p app",
        "<token>",
        "the counts are [1, 2, 3], the key is in the drawer",
        "passphrase: on the note in the drawer",
        "password: your-harbour-password",
        "the password reset-flow is slow",
        "密码 管理-工具-列表-说明",
        "door code changed on 2026-03-05",
        "door code 2026 is old",
        "WiFi: 2.4 GHz / 5 GHz",
        "WLAN: Bluetooth / Ethernet",
        "abandon ability able about above absent the absorb abstract absurd abuse access accident",
        "test test test test test test test test test test test test test",
        "我 們 在 河 邊 看 到 了 一 只 小 鳥 和 大 山",
        "commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12 has the token",
    ],
)
def test_words_near_a_label_stay(line: str) -> None:
    assert redact_text(line) == line


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


@pytest.mark.parametrize("between", [" 2. ", ", ", "  "])
def test_a_seed_phrase_may_have_numbers_and_commas_between_its_words(between: str) -> None:
    assert "absurd" not in redact_text(f"we wrote down {between.join(WORDS.split())} on paper")
