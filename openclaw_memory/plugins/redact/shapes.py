"""The shapes of secrets that are known by themselves: tokens of providers, hashes of passwords, numbers of accounts.

Prefixes and lengths are facts that providers publish; most are in the rules of gitleaks too
(https://github.com/gitleaks/gitleaks, config/gitleaks.toml, MIT).  A length is a lower bound a little below the
published one, as providers lengthen their tokens and people cut them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from . import opaque


class Rule(NamedTuple):
    """One shape: its type, the strings (lowercase) of which a line needs one if there are any, its pattern.

    The group ``secret`` is what is replaced, or the whole match where there is no such group.
    """

    name: str
    needles: tuple[str, ...]
    pattern: re.Pattern[str]

    def spans(self, line: str) -> Iterator[tuple[int, int, str]]:
        """Where ``line`` holds such a secret: first character, the one after the last, type."""
        group = "secret" if self.pattern.groupindex else 0
        for match in self.pattern.finditer(line):
            yield (*match.span(group), self.name)


def _rule(name: str, needles: str, pattern: str) -> Rule:
    # ``^`` stands for "no word character or hyphen before": a token starts where no longer word
    # could hold it, which also keeps a run of prefixes from being scanned once for each of them.
    start = r"(?<![A-Za-z0-9_-])" if pattern[0] == "^" else ""
    return Rule(name, tuple(needles.split()), re.compile(start + pattern.removeprefix("^"), re.ASCII))


def _prefixed(name: str, prefix: str, characters: str = "A-Za-z0-9", least: int = 20) -> Rule:
    """A token that is a prefix and at least so many characters."""
    return _rule(name, prefix.lower(), f"^{re.escape(prefix)}[{characters}]{{{least},}}+")


_WORD = r"\w-"
_HEX = "0-9a-f"

#: Tokens that are told by their prefix: type, prefix, characters, least length behind the prefix.
_PREFIXED = (
    ("airtable-token", "pat", "A-Za-z0-9.", 70), ("alibaba-key", "LTAI", "A-Za-z0-9", 16),
    ("anthropic-key", "sk-ant-", _WORD, 16), ("apify-token", "apify_api_", "A-Za-z0-9", 20),
    ("artifactory-key", "AKCp", "A-Za-z0-9", 60), ("asana-token", "1/1", "0-9:a-f/", 40),
    ("atlassian-token", "ATATT3", r"\w=-", 60), ("aws-bedrock-key", "ABSK", "A-Za-z0-9+/=", 80),
    ("brave-key", "BSA", _WORD, 24), ("buildkite-token", "bkua_", "A-Za-z0-9", 30),
    ("cerebras-key", "csk-", "A-Za-z0-9", 30), ("clickhouse-key", "4b1d", "A-Za-z0-9", 38),
    ("contentful-token", "CFPAT-", _WORD, 30), ("databricks-token", "dapi", "0-9a-f-", 32),
    ("datadog-key", "ddapi_", "A-Za-z0-9", 24), ("digitalocean-token", "dop_v1_", _HEX, 40),
    ("digitalocean-token", "doo_v1_", _HEX, 40), ("digitalocean-token", "dor_v1_", _HEX, 40),
    ("docker-token", "dckr_pat_", _WORD, 20), ("docker-token", "dckr_oat_", _WORD, 20),
    ("doppler-token", "dp.pt.", "A-Za-z0-9", 30), ("doppler-token", "dp.st.", r"\w.-", 30),
    ("duffel-token", "duffel_live_", r"\w=-", 30), ("duffel-token", "duffel_test_", r"\w=-", 30),
    ("dynatrace-token", "dt0c01.", "A-Za-z0-9.", 60), ("easypost-key", "EZAK", "A-Za-z0-9", 50),
    ("elevenlabs-key", "xi-", _HEX, 30), ("fal-key", "fal-", "A-Za-z0-9:-", 40),
    ("figma-token", "figd_", _WORD, 30), ("firecrawl-key", "fc-", _HEX, 30),
    ("fireworks-key", "fw_", "A-Za-z0-9", 20), ("flyio-token", "fo1_", _WORD, 40),
    ("flyio-token", "fm2_", "A-Za-z0-9+/=", 60), ("frameio-token", "fio-u-", r"\w=-", 40),
    ("github-token", "github_pat_", r"\w", 22), ("gitlab-token", "GR1348941", _WORD, 20),
    ("google-key", "AIza", _WORD, 33), ("google-key", "GOCSPX-", _WORD, 20), ("google-key", "ya29.", _WORD, 20),
    ("grafana-token", "glc_", "A-Za-z0-9+/=", 32), ("grafana-token", "glsa_", r"\w", 36),
    ("groq-key", "gsk_", "A-Za-z0-9", 30), ("heroku-key", "HRKU-", _WORD, 30),
    ("huggingface-token", "hf_", "A-Za-z0-9", 30), ("huggingface-token", "api_org_", "A-Za-z0-9", 30),
    ("infracost-key", "ico-", "A-Za-z0-9", 30), ("jina-key", "jina_", _WORD, 30),
    ("langsmith-key", "lsv2_pt_", r"\w", 30), ("langsmith-key", "lsv2_sk_", r"\w", 30),
    ("linear-key", "lin_api_", "A-Za-z0-9", 30), ("linear-key", "lin_oauth_", "A-Za-z0-9", 30),
    ("mailgun-key", "key-", _HEX, 32), ("mapbox-token", "sk.eyJ", r"\w.-", 40),
    ("meta-token", "EAA", "A-Za-z0-9", 90), ("neon-key", "napi_", "A-Za-z0-9", 30),
    ("netlify-token", "nfp_", "A-Za-z0-9", 30), ("new-relic-key", "NRAK-", "A-Z0-9", 20),
    ("ngrok-key", "ak_2", "A-Za-z0-9", 24), ("notion-token", "ntn_", "A-Za-z0-9", 30),
    ("notion-token", "secret_", "A-Za-z0-9", 40), ("npm-token", "npm_", "A-Za-z0-9", 30),
    ("nvidia-key", "nvapi-", _WORD, 40), ("octopus-key", "API-", "A-Z0-9", 26),
    ("1password-token", "ops_eyJ", "A-Za-z0-9+/=", 60), ("openshift-token", "sha256~", _WORD, 40),
    ("perplexity-key", "pplx-", "A-Za-z0-9", 30), ("pinecone-key", "pcsk_", r"\w", 30),
    ("planetscale-token", "pscale_tkn_", r"\w=.-", 30), ("planetscale-token", "pscale_pw_", r"\w=.-", 30),
    ("planetscale-token", "pscale_oauth_", r"\w=.-", 30), ("posthog-key", "phx_", "A-Za-z0-9", 30),
    ("postman-key", "PMAK-", "0-9a-f-", 50), ("prefect-key", "pnu_", "A-Za-z0-9", 30),
    ("pulumi-token", "pul-", _HEX, 40), ("readme-key", "rdme_", "a-z0-9", 60), ("replicate-token", "r8_", _WORD, 30),
    ("resend-key", "re_", r"\w", 28), ("rubygems-key", "rubygems_", _HEX, 40), ("sendgrid-key", "SG.", r"\w.-", 50),
    ("sendinblue-key", "xkeysib-", _WORD, 60), ("sentry-token", "sntrys_", r"\w+/=", 40),
    ("sentry-token", "sntryu_", _HEX, 40), ("shippo-token", "shippo_live_", "0-9A-Fa-f", 30),
    ("shippo-token", "shippo_test_", "0-9A-Fa-f", 30), ("shopify-token", "shpat_", "0-9A-Fa-f", 30),
    ("shopify-token", "shpca_", "0-9A-Fa-f", 30), ("shopify-token", "shppa_", "0-9A-Fa-f", 30),
    ("shopify-token", "shpss_", "0-9A-Fa-f", 30), ("slack-token", "xoxe.xox", "A-Za-z0-9-", 30),
    ("sourcegraph-token", "sgp_", r"\w", 40), ("square-token", "EAAA", _WORD, 40), ("square-token", "sq0atp-", _WORD, 20),
    ("square-token", "sq0csp-", _WORD, 40), ("supabase-key", "sbp_", _HEX, 40),
    ("supabase-key", "sb_secret_", _WORD, 20), ("tailscale-key", "tskey-", _WORD, 16),
    ("tavily-key", "tvly-", _WORD, 20), ("terraform-token", ".atlasv1.", r"\w=-", 50),
    ("twilio-key", "SK", _HEX, 32), ("vault-token", "hvs.", _WORD, 20), ("vault-token", "hvb.", _WORD, 20),
    ("vault-token", "hvr.", _WORD, 20), ("vercel-token", "vercel_", "A-Za-z0-9", 24), ("xai-key", "xai-", _WORD, 40),
    ("age-key", "AGE-SECRET-KEY-1", "0-9A-Z", 50), ("elevenlabs-key", "sk_", _HEX, 40), ("context7-key", "ctx7sk-", "0-9a-f-", 30),
    ("cloudflare-key", "v1.0-", "0-9a-f-", 100), ("nostr-key", "nsec1", "02-9ac-hj-np-z", 50), ("anyscale-key", "esecret_", "A-Za-z0-9", 20),
)  # fmt: skip

_OTHERS: tuple[Rule, ...] = (
    _rule("openai-key", "sk-", r"^sk-(?:proj|svcacct|admin|or-v1)-[\w-]{20,}+"),
    _rule("openai-key", "sk-", r"^sk-(?=[A-Za-z]*+\d)[A-Za-z0-9]{20,}+"),
    _rule("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"^gh[pousr]_[A-Za-z0-9]{30,}+"),
    _rule(
        "gitlab-token",
        "glpat- gldt- glrt- glptt- glcbt- glft- gloas- glsoat- glagent- glimt- glffct-",
        r"^gl(?:pat|dt|rt|ptt|cbt|ft|oas|soat|agent|imt|ffct)-[\w.-]{20,}+",
    ),
    _rule("aws-access-key", "akia asia abia acca", r"^A(?:KI|SI|BI|CC)A[A-Z0-9]{16}(?![\w-])"),
    _rule(
        "aws-secret-key",
        "aws secret",
        r"(?<!redacted:)(?<!redacted:aws-)(?i:aws|secret).{0,24}?(?<![\w/+-])(?=[a-z0-9]{0,39}[A-Z/+])"
        r"(?P<secret>[A-Za-z0-9/+]{40})(?![\w/+=-])",
    ),
    _rule("slack-token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", r"^(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}+"),
    _rule("slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[\w/-]{20,}+)"),
    _rule("discord-webhook", "/api/webhooks/", r"/api/webhooks/\d{10,24}/(?P<secret>[\w-]{20,}+)"),
    _rule("teams-webhook", "webhook.office.com", r"webhook\.office\.com/webhookb2/(?P<secret>[\w@/-]{30,}+)"),
    _rule("stripe-key", "k_live_ k_test_ k_prod_", r"^[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}+"),
    _rule("stripe-key", "whsec_", r"^whsec_[A-Za-z0-9+/=]{24,}+"),
    _rule("telegram-token", ":aa", r"^\d{8,10}:AA[\w-]{32,}+"),
    # A Discord token begins with its bot's number in base64, hence with one of twelve pairs.
    _rule("discord-token", "", r"[MNO](?<![\w-].)[DTjz][\w-]{21,27}\.[\w-]{6}\.[\w-]{27,}+"),
    _rule("pypi-token", "pypi-", r"^pypi-(?=[a-z_-]{0,60}[A-Z0-9])[\w-]{50,}+"),
    _rule("jwt", "eyj", r"^eyJ[\w-]{8,}+\.eyJ[\w-]{8,}+(?:\.[\w-]{8,}+)++"),
    _rule("1password-key", "a3-", r"^A3-[A-Z0-9]{6}-[A-Z0-9-]{20,40}+"),
    _rule("azure-secret", "q~", r"(?<![\w.~-])[\w.~-]{3}\dQ~[\w.~-]{31,34}+"),
    _rule("azure-key", "accountkey sharedaccesskey", r"(?i:accountkey|sharedaccesskey)=(?P<secret>[\w+/=-]{20,}+)"),
    _rule("azure-sas", "sig=", r"[?&]sig=(?P<secret>[\w%+/=-]{20,}+)"),
    _rule("mailgun-key", "", r"^[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])"),
    _rule("mailchimp-key", "-us", r"^[0-9a-f]{32}-us\d{1,2}(?![\w-])"),
    _rule("vault-token", "s.", r"^s\.(?=[A-Za-z]*\d)[A-Za-z0-9]{24}(?![\w.-])"),
    _rule("bearer-token", "bearer", r"(?i:\bbearer)[ \t]{1,8}(?=[\w.~+/-]{0,200}?(?:\d|=|[a-z][A-Z]))(?P<secret>[\w.~+/=-]{16,}+)"),
    _rule(
        "authorization",
        "authorization",
        r"(?i:\bauthorization[\"'`]?[ \t]{0,4}[:=][ \t]{0,4}[\"'`]?(?:bearer|basic|token))[ \t]{1,8}"
        r"(?=[\w.~+/-]{0,200}?(?:\d|=|[a-z][A-Z]))(?P<secret>[\w.~+/=-]{8,}+)",
    ),
    # Greedy up to the last "@" before a slash: a password may hold one itself.
    _rule("url-password", "://", r"://[^\s/:@]{0,64}+:(?![$<{*\[])(?P<secret>[^\s/\"'`<>]{1,200})@"),
    # A token in an address may be made of words: three of them, or two and a number.
    _rule(
        "url-token",
        "token= secret= apikey= api_key= api-key= auth= signature= sig=",
        r"[?&](?i:(?:[\w-]{0,24}[_-])?(?:token|secret|api[_-]?key|auth|signature|sig))="
        r"(?!(?i:your|my[-_]|x{3}|example|dummy|changeme))(?P<secret>(?=[\w.~%+/-]{0,80}?\d|[A-Za-z]{1,20}[-_.][A-Za-z]{1,20}[-_.][A-Za-z])"
        r"[\w.~%+/-]{10,512}+)",
    ),
    # The address of a calendar opens it to whoever has it.
    _rule("calendar-address", "/private-", r"/private-(?P<secret>[0-9a-f]{16,128}+)(?![\w-])"),
    _rule("calendar-address", "/published/", r"/published/\d{1,2}/(?P<secret>(?=[A-Za-z_-]{0,60}\d)[\w-]{20,256}+)"),
    _rule(
        "calendar-address",
        ".ics",
        r"(?<=/)(?P<secret>(?:(?=[a-z]{0,40}\d)[0-9a-f]{20,128}|(?=[A-Za-z]{0,40}\d)(?=[a-z0-9]{0,40}[A-Z])[0-9A-Za-z]{20,256})(?:@[\w.-]{1,80}+)?)"
        r"(?=(?:/[\w@.%-]{1,160}){0,3}\.ics\b|\.ics\b)",
    ),
    _rule("curl-password", "-u --user --proxy-user", r"(?:-u|--(?:proxy-)?user)[ =]{0,2}[\"']?[^\s:\"'$<]{1,64}:(?P<secret>[^\s\"'$<{]{3,128})"),
    _rule("netrc-password", "login", r"\blogin[ \t]{1,4}\S{1,64}[ \t]{1,4}password[ \t]{1,4}(?P<secret>(?!\[redacted)\S{3,128})"),
    # "root / hunter2x": who logs in, then with what.
    _rule(
        "login-password",
        "root admin postgres ubuntu debian mysql oracle deploy",
        r"(?i:(?<![\w/.@-])(?:root|admin(?:istrator)?|postgres|ubuntu|debian|mysql|oracle|deploy)(?:@[\w.-]{1,80}+)?)"
        r"[`*\"']{0,3}[ \t]{1,4}/[ \t]{1,4}[`*\"']{0,3}(?=\S{0,63}?\d)(?=\S{0,63}?[A-Za-z])"
        r"(?P<secret>[^\s/|`*\"'\[]{6,64})(?![\w/])",
    ),
    # The name of a network, then what opens it: of eight characters or more.
    _rule(
        "wifi-password",
        "wlan wifi wi-fi ssid",
        r"(?i:\b(?:wlan|wi-?fi|ssid))[*_`]{0,3}[ \t]{0,2}[:=][*_`]{0,3}[ \t]{0,3}[^\n/:=|]{1,40}?[ \t]{1,2}/[ \t]{1,2}[`\"']?"
        r"(?=\S{0,63}?\d)(?P<secret>(?=\S{0,63}?[A-Za-z])[^\W_][^\s/.,|`\"'<>\[]{7,62})(?=[`\"']?[ \t]{0,4}(?:$|[,;.(]))",
    ),
    _rule("cli-password", "sshpass", r"\bsshpass[ \t]{1,4}-p[ \t]{0,2}[\"']?(?![$<{])(?P<secret>[^\s\"']{3,128})"),
    _rule(
        "cli-password",
        "mysql mariadb",
        r"\b(?:mysql|mariadb)\w{0,8}[ \t](?:[^\n|;]{0,120}?[ \t])?-p(?![$<{])[\"']?(?P<secret>[^\s\"'$<{\[]{4,128})",
    ),
    # The first pair of a header tells whether values are in it.
    _rule(
        "cookie",
        "cookie",
        r"(?i:\b(?:set-)?cookie)[\"'`]?[ \t]{0,4}[:=][ \t]{0,4}[\"'`]?(?P<secret>[\w.-]{1,64}+=(?=[^;\s\"'`]{0,512}?\d)"
        r"[^;\s\"'`<$]{12,}+(?:;[ \t]{0,2}[^;\"'`\n]{1,512}+)*+)",
    ),
    _rule(
        "password",
        "<password> <passwd> <pwd> <passphrase> <secret> <apikey> <api_key> <token>",
        r"(?i:<(?:password|passwd|pwd|passphrase|secret|api_?key|token)>)(?P<secret>[^<>\s\[$]{4,256})</",
    ),
    _rule("totp-secret", "otp 2fa mfa authenticator", r"(?i:t?otp|2fa|mfa|authenticator)\W.{0,24}?(?<![\w/+-])(?=[A-Z]*[2-7])(?P<secret>[A-Z2-7]{16,64}+)(?![\w/+-])"),
    # The file of a key pair of Solana is a list of its 64 bytes.
    _rule("private-key", "keypair key", r"\[[ \t]?(?P<secret>\d{1,3}(?:,[ \t]?\d{1,3}){63})[ \t]?\]"),
    # An OpenSSH key's body starts with the name of its format: known even without its BEGIN line.
    _rule("private-key", "b3blbnnzac1rzxktdj", r"(?<![\w+/])b3BlbnNzaC1rZXktdj[A-Za-z0-9+/=]{20,}+"),
    _rule(
        "password-hash",
        "$1$ $2a$ $2b$ $2x$ $2y$ $5$ $6$ $7$ $y$ $gy$ $apr1$ $argon2 $scrypt $pbkdf2 {ssha",
        r"(?:\$(?:1|2[abxy]|5|6|7|g?y|apr1|argon2\w{1,2}|scrypt|pbkdf2[\w-]{0,12})\$|\{SSHA\d{0,3}\})[\w./=,$+-]{16,}+",
    ),
    # A transaction has as many digits as a key, so a word for one stands before it.
    _rule("ethereum-key", "0x", r"(?<![\w:/])0x[0-9a-fA-F]{64}(?!\w)"),
    _rule("bitcoin-key", "xprv", r"^[xyz]prv[A-Za-z0-9]{90,}+"),
    _rule("bitcoin-key", "", r"(?<![\w/+=.-])(?:[KL](?=[1-9]*[A-Za-z]+\d)[1-9A-HJ-NP-Za-km-z]{51}|5[HJK][1-9A-HJ-NP-Za-km-z]{49})(?![\w/+=-])"),
    # <prefix>_<sk|key|token|…>_<long and random>.
    _rule(
        "token",
        "_sk_ _key_ _token_ _live_ _test_ _secret_ _pat_ _api_ -sk- -key- -token- -live- -test- -secret- -pat- -api-",
        r"^[A-Za-z][A-Za-z0-9]{0,15}[_-](?:sk|key|token|live|test|secret|pat|api)[_-](?:v\d[_-])?"
        r"(?=[a-z_-]{0,60}[A-Z0-9])(?=[A-Za-z_-]{0,60}\d[A-Za-z_-]{0,60}\d)[\w-]{20,}+",
    ),
)  # fmt: skip

#: The table of shapes.  Quantifiers are possessive (``++``) or bounded: no backtracking.
RULES: tuple[Rule, ...] = (*(_prefixed(*row) for row in _PREFIXED), *_OTHERS)

_ALWAYS = frozenset(n for n, rule in enumerate(RULES) if not rule.needles)


@cache
def _automaton() -> Any:
    import ahocorasick

    found = ahocorasick.Automaton()
    for n, rule in enumerate(RULES):
        for needle in rule.needles:
            found.add_word(needle, (*found.get(needle, ()), n))
    found.make_automaton()
    return found


def spans(line: str, low: str) -> list[tuple[int, int, str]]:
    """Where ``line`` holds a secret of a known shape; ``low`` is the line in small letters."""
    rules = sorted(_ALWAYS.union(*(several for _, several in _automaton().iter(low))))
    return [
        (start, end, kind)
        for n in rules
        for start, end, kind in RULES[n].spans(line)
        if kind != "ethereum-key" or not opaque.is_transaction(line, start)
    ]
