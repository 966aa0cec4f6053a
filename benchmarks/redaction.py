"""Count the generated secrets that are redacted, by kind and form, and the ordinary lines redacted by mistake.

    python -m benchmarks.redaction [FOLDER ...]

Secrets are made at run time from the shapes that providers publish, none is real.  Every kind is written in twelve
forms; a kind passes in a form when none of ``--tries`` lines still contains six characters of the secret in a row.
Ordinary lines come from the generator of :mod:`benchmarks.corpus`, with hashes, paths, versions, addresses and
identifiers among them.  A FOLDER is a workspace or a folder of some: its lines are counted and never shown, unless
``--show`` asks for what was redacted in the generated ones.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import string
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from benchmarks import corpus
from openclaw_memory.plugins.redact import redact_lines

_ALPHABETS = {
    "b": string.ascii_letters + string.digits, "h": "0123456789abcdef", "u": string.ascii_uppercase + string.digits,
    "d": string.digits, "w": string.ascii_letters + string.digits + "-_", "l": string.ascii_lowercase + string.digits,
    "s": string.ascii_letters + string.digits + "+/", "x": string.ascii_uppercase,
}  # fmt: skip

#: Providers: what their secret is called, and its shape: ``{b40}`` is 40 characters of the alphabet ``b``.
VENDORS = {
    "OpenAI API key": "sk-proj-{w74}T3BlbkFJ{w74}", "Anthropic API key": "sk-ant-api03-{w93}AA",
    "OpenRouter API key": "sk-or-v1-{h64}", "Groq API key": "gsk_{b52}", "xAI API key": "xai-{b80}",
    "Perplexity API key": "pplx-{b48}", "Replicate token": "r8_{b37}", "Hugging Face token": "hf_{b34}",
    "DeepSeek API key": "sk-{h32}", "Mistral API key": "{b32}", "Google API key": "AIza{w35}",
    "Google client secret": "GOCSPX-{w28}", "Tavily API key": "tvly-dev-{b32}", "Brave API key": "BSA{w28}",
    "Firecrawl API key": "fc-{h32}", "ElevenLabs API key": "sk_{h48}", "Deepgram API key": "{h40}",
    "Pinecone API key": "pcsk_{b6}_{b63}", "LangSmith API key": "lsv2_pt_{h32}_{h10}", "Nvidia API key": "nvapi-{w64}",
    "GitHub token": "ghp_{b36}", "GitHub fine-grained token": "github_pat_{b22}_{b59}", "GitLab token": "glpat-{w20}",
    "Bitbucket token": "ATATT3{w170}={u8}", "npm token": "npm_{b36}", "PyPI token": "pypi-AgEIcHlwaS5vcmc{w120}",
    "RubyGems API key": "rubygems_{h48}", "Docker token": "dckr_pat_{w27}", "AWS access key": "AKIA{u16}",
    "AWS secret access key": "{s40}", "Azure client secret": "{b3}8Q~{w34}", "Azure account key": "{s86}==",
    "DigitalOcean token": "dop_v1_{h64}", "Cloudflare API token": "{w40}", "Heroku API key": "HRKU-AA{w58}",
    "Fly.io token": "fo1_{w43}", "Netlify token": "nfp_{b36}", "Vercel token": "{b24}", "Supabase key": "sbp_{h40}",
    "Neon API key": "napi_{l64}", "PlanetScale token": "pscale_tkn_{w43}", "Databricks token": "dapi{h32}",
    "Terraform token": "{b14}.atlasv1.{w64}", "Pulumi token": "pul-{h40}", "Vault token": "hvs.{w95}",
    "Doppler token": "dp.pt.{b43}", "1Password token": "ops_eyJ{s280}", "Tailscale auth key": "tskey-auth-{b16}-{b32}",
    "WireGuard private key": "{s43}=", "ngrok auth token": "2{b26}_{b21}", "Slack bot token": "xoxb-{d12}-{d13}-{b24}",
    "Slack app token": "xapp-1-{u11}-{d13}-{h64}", "Slack webhook token": "T{u10}/B{u10}/{b24}",
    "Discord bot token": "MT{b22}.{b6}.{w38}", "Discord webhook secret": "{w68}", "Telegram bot token": "{d10}:AA{w33}",
    "Twilio API key": "SK{h32}", "Twilio auth token": "{h32}", "SendGrid API key": "SG.{w22}.{w43}",
    "Mailgun API key": "key-{h32}", "Mailgun sending key": "{h32}-{h8}-{h8}", "Mailchimp API key": "{h32}-us14",
    "Brevo API key": "xkeysib-{h64}-{b16}", "Resend API key": "re_{b8}_{b24}", "Postmark server token": "{uuid}",
    "Stripe secret key": "sk_live_{b24}", "Stripe webhook secret": "whsec_{b32}", "Square token": "EAAA{w60}",
    "Shopify token": "shpat_{h32}", "Notion token": "ntn_{d11}{b35}", "Notion secret": "secret_{b43}",
    "Linear API key": "lin_api_{b40}", "Figma token": "figd_{w40}", "Airtable token": "pat{b14}.{h64}",
    "Asana token": "1/{d16}:{h32}", "Jira API token": "{b24}", "Sentry token": "sntryu_{h64}",
    "Datadog API key": "{h32}", "Grafana token": "glsa_{b32}_{h8}", "New Relic key": "NRAK-{u27}",
    "PostHog API key": "phx_{b43}", "Postman API key": "PMAK-{h24}-{h34}", "JWT secret": "eyJ{b33}.eyJ{b60}.{w43}",
    "age private key": "AGE-SECRET-KEY-1{u58}", "Ethereum private key": "0x{h64}", "webhook secret": "acme_live_{b32}",
    "card number": "{card}", "IBAN": "{iban}", "SSN": "{ssn}", "Home Assistant token": "eyJ{b33}.eyJ{b60}.{w43}",
}  # fmt: skip

#: What people call a password, a PIN, a token, an API key and a private key, in their languages.
LABELS = {
    "en": "password passcode PIN secret token api_key private_key auth_key signing_key encryption_key",
    "de": "Passwort Kennwort Geheimnis Token API-Schlüssel privater_Schlüssel Signaturschlüssel",
    "fr": "mot_de_passe code_PIN jeton clé_API clé_privée clé_de_chiffrement", "es": "contraseña secreto clave_API clave_privada",
    "pt": "senha palavra-passe segredo chave_API chave_privada", "it": "password segreto chiave_API chiave_privata",
    "nl": "wachtwoord pincode geheim API-sleutel privésleutel", "pl": "hasło klucz_API klucz_prywatny sekret",
    "cs": "heslo API_klíč soukromý_klíč", "sv": "lösenord pinkod API-nyckel privat_nyckel", "da": "adgangskode API-nøgle",
    "no": "passord API-nøkkel privat_nøkkel", "fi": "salasana API-avain yksityinen_avain", "tr": "şifre parola API_anahtarı özel_anahtar",
    "ru": "пароль пин-код токен API-ключ приватный_ключ ключ_шифрования", "uk": "пароль токен API-ключ приватний_ключ",
    "ar": "كلمة_المرور رمز_مميز مفتاح_API المفتاح_الخاص", "he": "סיסמה אסימון מפתח_API מפתח_פרטי",
    "hi": "पासवर्ड टोकन API_कुंजी निजी_कुंजी", "th": "รหัสผ่าน โทเค็น คีย์_API คีย์ส่วนตัว", "vi": "mật_khẩu mã_PIN khóa_API khóa_riêng_tư",
    "id": "kata_sandi kunci_API kunci_pribadi", "zh-Hans": "密码 口令 令牌 密钥 私钥", "zh-Hant": "密碼 權杖 金鑰 私鑰",
    "ja": "パスワード 暗証番号 トークン APIキー 秘密鍵", "ko": "비밀번호 암호 토큰 API_키 개인_키",
}  # fmt: skip
_COPULAS = {
    "de": "ist", "fr": "est", "es": "es", "pt": "é", "it": "è", "nl": "is", "pl": "to", "cs": "je", "sv": "är", "da": "er",
    "no": "er", "fi": "on", "tr": "olarak", "ru": "—", "uk": "це", "ar": "هو", "he": "היא", "hi": "है", "th": "คือ", "vi": "là",
    "id": "adalah", "zh-Hans": "是", "zh-Hant": "是", "ja": "は", "ko": "는",
}  # fmt: skip

#: The forms: one or more lines with a label, a copula and a value.
FORMS = {
    "bare": "{value}", "colon": "{label}: {value}", "equals": "{label}={value}", "full-width": "{label}：{value}",
    "table": "| host | {label} |\n|---|---|\n| attic | {value} |", "json": '  "{label}": "{value}",', "yaml": "  - {key}: {value}",
    "env": "export {env}={value}", "sentence": "By the way, the {label} {copula} {value}",
    "markdown": "- **{label}**: `{value}`", "url": "https://bot:{value}@db.example.net/main", "heading": "## {label}\n\n- {value}",
}  # fmt: skip

_SHAPE = re.compile(r"\{(\w+?)(\d*)\}")
_MARK = re.compile(r"\[redacted:[\w-]+\]")
_IN_A_URL = frozenset("+/=:@")


def secret(shape: str, random: Random) -> str:
    """A secret of that shape."""

    def made(match: re.Match[str]) -> str:
        if match[1] == "uuid":
            return str(uuid.UUID(int=random.getrandbits(128), version=4))
        if match[1] in _MADE:
            return _MADE[match[1]](random)
        return "".join(random.choices(_ALPHABETS[match[1]], k=int(match[2])))

    return _SHAPE.sub(made, shape)


def _card(random: Random) -> str:
    digits = "4" + "".join(random.choices(string.digits, k=14))
    total = sum(d if n % 2 else d * 2 - 9 * (d > 4) for n, d in enumerate(map(int, digits)))
    digits += str(-total % 10)
    return " ".join(digits[n : n + 4] for n in range(0, 16, 4))


def _iban(random: Random) -> str:
    account = "".join(random.choices(string.digits, k=18))
    check = 98 - int(f"{account}131400") % 97
    text = f"DE{check:02d}{account}"
    return " ".join(text[n : n + 4] for n in range(0, 22, 4))


def _ssn(random: Random) -> str:
    return f"{random.randint(100, 665)}-{random.randint(10, 99)}-{random.randint(1000, 9999)}"


def _word(random: Random) -> str:
    """A password as people make them: a word, a sign and a figure."""
    name = random.choice("swordfish letmein monkey dragon sunshine trustno harbour kestrel".split())
    return f"{name.capitalize()}{random.choice('!#$%&*')}{random.randint(10, 9999)}"


_MADE: dict[str, Callable[[Random], str]] = {"card": _card, "iban": _iban, "ssn": _ssn, "word": _word}
_PASSWORDS = re.compile(
    "pass|Kenn|mot|contras|senha|wacht|has|hes|lösen|adgang|sala|şif|parola|пароль|كلمة|סיס|पास|รหัส|mật|sandi|密[码碼]|口令|パス|비밀|암호"
)
_PINS = re.compile("PIN|pin|пин|暗証")


def kinds() -> dict[str, tuple[str, str, str]]:
    """Label, copula and shape of each kind, by its name."""
    found = {name: (name, "is", shape) for name, shape in VENDORS.items()}
    for language, labels in LABELS.items():
        for label in labels.split():
            said = label.replace("_", " ")
            shape = "{d6}" if _PINS.search(label) else "{word}" if _PASSWORDS.search(label) else "{b32}"
            found[f"{language}: {said}"] = (said, _COPULAS.get(language, "is"), shape)
    return found


def recall(tries: int, seed: int) -> dict[str, dict[str, bool]]:
    """Whether each kind is held in each form."""
    random = Random(seed)
    found: dict[str, dict[str, bool]] = {}
    for name, (label, copula, shape) in kinds().items():
        found[name] = {}
        for form, template in FORMS.items():
            key = re.sub(r"[\s-]+", "_", label)
            held = True
            for _ in range(tries):
                value = secret(shape, random)
                if form == "url" and _IN_A_URL & set(value):
                    value = "".join(c for c in value if c not in _IN_A_URL)
                text = template.format(label=label, key=key.lower(), env=key.upper(), copula=copula, value=value)
                out = _MARK.sub("", "\n".join(redact_lines(text.split("\n"))))
                frame = text.replace(value, "")
                pieces = (value[n : n + 6] for n in range(max(1, len(value) - 5)))
                held &= not any(piece in out and piece not in frame for piece in pieces)
            found[name][form] = held
    return found


def ordinary(lines: int, seed: int) -> Iterator[str]:
    """Lines of notes without a secret; every fourth holds something that looks a little like one."""
    random = Random(seed)

    def text(alphabet: str, count: int) -> str:
        return "".join(random.choices(_ALPHABETS[alphabet], k=count))

    extras: list[Callable[[], str]] = [
        lambda: f"fixed in {text('h', 40)}, see {text('h', 7)}", lambda: f"sha256:{text('h', 64)}",
        lambda: f"id {uuid.UUID(int=random.getrandbits(128), version=4)}", lambda: f"v{random.randint(0, 9)}.{random.randint(0, 30)}.{random.randint(0, 9)}-rc{random.randint(1, 9)}",
        lambda: f"/home/ada/projects/{text('l', 8)}/src/main_{random.randint(1, 99)}.py", lambda: f"https://docs.example.org/d/{text('w', 44)}/edit",
        lambda: f"![](data:image/png;base64,{base64.b64encode(random.randbytes(60)).decode()})",
        lambda: f"token budget {random.randint(1, 128)}k", lambda: "the password is in the vault", lambda: "password: see the vault",
        lambda: f"max_tokens: {random.randint(100, 9999)}", lambda: f"handleTokenRefresh{random.randint(1, 9)}Callback",
        lambda: "the deploy passphrase is correct horse battery staple", lambda: "the code phrase is blue bunny",
        lambda: f"call +1 555 {random.randint(100, 999)} {random.randint(1000, 9999)}", lambda: f"order {random.randint(10**9, 10**10)}",
        lambda: f"ticket PROJ-{random.randint(100, 99999)}", lambda: f"{random.randint(1_600_000_000_000, 1_800_000_000_000)} ms",
        lambda: f"{random.randint(1, 255)}.{random.randint(0, 255)}.0.{random.randint(1, 255)}:{random.randint(80, 9999)}",
        lambda: "API key rotation is due", lambda: "secret santa on Friday", lambda: f"public key: ssh-ed25519 AAAAC3{text('s', 62)}",
    ]  # fmt: skip
    for at, unit in enumerate(corpus.units(lines, seed)):
        yield f"{unit} {random.choice(extras)()}" if at % 4 == 0 else unit


def hits(lines: list[str]) -> list[str]:
    """The lines in which something is redacted, as they read then."""
    return [after for before, after in zip(lines, redact_lines(lines), strict=True) if before != after]


def main() -> None:
    """Print recall by kind and form, and false positives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, help="workspaces, or folders of them, whose hits are counted")
    parser.add_argument("--tries", type=int, default=5, help="secrets of each kind in each form")
    parser.add_argument("--lines", type=int, default=20_000, help="ordinary lines that are generated")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--show", action="store_true", help="show kinds that are not held, and generated lines that are hit"
    )
    options = parser.parse_args()
    found = recall(options.tries, options.seed)
    good = sum(sum(forms.values()) >= len(FORMS) - 1 for forms in found.values())
    by_form = {form: sum(forms[form] for forms in found.values()) / len(found) for form in FORMS}
    lines = list(ordinary(options.lines, options.seed))
    started = time.perf_counter()
    wrong = hits(lines)
    seconds = time.perf_counter() - started
    print(json.dumps({"kinds": len(found), "held in all forms but one": good, "share": round(good / len(found), 4)}))
    print(json.dumps({form: round(share, 3) for form, share in by_form.items()}))
    print(json.dumps({"ordinary lines": len(lines), "hit": len(wrong), "seconds": round(seconds, 3)}))
    for folder in options.folders:
        files = [
            path.read_text(encoding="utf-8", errors="replace").split("\n") for path in sorted(folder.rglob("*.md"))
        ]
        types = Counter(
            kind for file in files for line in hits(file) for kind in re.findall(r"\[redacted:([\w-]+)\]", line)
        )
        print(
            json.dumps(
                {"folder": folder.name, "lines": sum(map(len, files)), "hit": sum(len(hits(f)) for f in files), **types}
            )
        )
    if options.show:
        for name, forms in found.items():
            if missed := [form for form, held in forms.items() if not held]:
                print(f"{name}: {', '.join(missed)}")
        print("\n".join(wrong[:50]))


if __name__ == "__main__":
    main()
