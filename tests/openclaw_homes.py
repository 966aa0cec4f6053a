"""Homes of OpenClaw, and what it resolves in each: the e2e tests hold the same table against the real one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

USUAL = ".openclaw/openclaw.json"


@dataclass(frozen=True)
class Home:
    """Files below HOME and variables; ``~`` stands for HOME in variables and in what is expected."""

    files: Mapping[str, str] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    profile: str | None = None
    config: str = f"~/{USUAL}"
    workspaces: Mapping[str, str] = field(default_factory=lambda: {"main": "~/.openclaw/workspace"})

    def make(self, home: Path) -> dict[str, str]:
        """Write the files; the variables."""
        for name, text in self.files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text, encoding="utf-8")
        return {name: value.replace("~~", str(home)) for name, value in self.environ.items()} | {"HOME": str(home)}


def configured(text: str, **workspaces: str) -> Home:
    """A configuration in the usual place."""
    return Home({USUAL: text}, workspaces=workspaces)


HOMES = {
    "nothing": Home(),
    "OPENCLAW_HOME": Home(
        {f"oh/{USUAL}": "{}"}, {"OPENCLAW_HOME": "~~/oh"}, None, f"~/oh/{USUAL}", {"main": "~/oh/.openclaw/workspace"}
    ),
    "OPENCLAW_HOME below the home": Home(
        {f"oh/{USUAL}": "{agents:{defaults:{workspace:'~/ws'}}}"},
        {"OPENCLAW_HOME": "~/oh"}, None, f"~/oh/{USUAL}", {"main": "~/oh/ws"},
    ),
    "OPENCLAW_STATE_DIR": Home(
        {USUAL: "{agents:{defaults:{workspace:'~/ws'}}}"},
        {"OPENCLAW_STATE_DIR": "~/st"}, None, "~/st/openclaw.json", {"main": "~/st/workspace"},
    ),
    "OPENCLAW_CONFIG_PATH": Home(
        {"x.json": "{}", USUAL: "{agents:{defaults:{workspace:'~/ws'}}}"},
        {"OPENCLAW_CONFIG_PATH": "~/x.json"}, None, "~/x.json",
    ),
    "OPENCLAW_WORKSPACE_DIR": Home({}, {"OPENCLAW_WORKSPACE_DIR": "~~/wd"}, workspaces={"main": "~/wd"}),
    "OPENCLAW_WORKSPACE_DIR and a configured one": Home(
        {USUAL: "{agents:{defaults:{workspace:'~/ws'}}}"}, {"OPENCLAW_WORKSPACE_DIR": "~~/wd"}, workspaces={"main": "~/ws"}
    ),
    "OPENCLAW_PROFILE": Home({}, {"OPENCLAW_PROFILE": "lab"}, workspaces={"main": "~/.openclaw-lab/workspace"}),
    "a profile": Home({}, {}, "lab", "~/.openclaw-lab/openclaw.json", {"main": "~/.openclaw-lab/workspace"}),
    "the default profile": Home({}, {}, "default"),
    "a profile and OPENCLAW_HOME": Home(
        {}, {"OPENCLAW_HOME": "~~/oh"}, "lab", "~/oh/.openclaw-lab/openclaw.json",
        {"main": "~/oh/.openclaw-lab/workspace"},
    ),
    "a profile and OPENCLAW_STATE_DIR": Home(
        {}, {"OPENCLAW_STATE_DIR": "~~/st"}, "lab", "~/st/openclaw.json", {"main": "~/st/workspace"}
    ),
    "a profile and OPENCLAW_CONFIG_PATH": Home(
        {"x.json": "{}"}, {"OPENCLAW_CONFIG_PATH": "~~/x.json"}, "lab", "~/x.json",
        {"main": "~/.openclaw-lab/workspace"},
    ),
    "another profile": Home(
        {USUAL: "{}"},
        {"OPENCLAW_STATE_DIR": "~~/.openclaw", "OPENCLAW_CONFIG_PATH": f"~~/{USUAL}"}, "lab",
        "~/.openclaw-lab/openclaw.json", {"main": "~/.openclaw-lab/workspace"},
    ),
    "another profile than a named one": Home(
        {},
        {"OPENCLAW_PROFILE": "old", "OPENCLAW_STATE_DIR": "~~/.openclaw-old"}, "lab",
        "~/.openclaw-lab/openclaw.json", {"main": "~/.openclaw-lab/workspace"},
    ),
    "an old name": Home(
        {".clawdbot/clawdbot.json": '{"agents":{"defaults":{"workspace":"~/old"}}}'}, {}, None,
        "~/.clawdbot/clawdbot.json", {"main": "~/old"},
    ),
    "a comment": configured("// mine\n{agents: {defaults: {workspace: '~/ws',},},}", main="~/ws"),
    "an include": Home(
        {USUAL: "{$include: './a.json5'}", ".openclaw/a.json5": "{agents:{defaults:{workspace:'~/inc'}}} // c"},
        workspaces={"main": "~/inc"},
    ),
    "a variable of the environment": Home(
        {USUAL: "{agents:{defaults:{workspace:'${WS_HOME}/ws'}}}"}, {"WS_HOME": "~~/v"}, workspaces={"main": "~/v/ws"}
    ),
    "a variable of the configuration": configured(
        "{env:{vars:{WS_HOME:'/v'}},agents:{defaults:{workspace:'${WS_HOME}/ws'}}}", main="/v/ws"
    ),
    "one agent": configured("{agents:{entries:{ops:{}}}}", ops="~/.openclaw/workspace"),
    "one agent with a workspace": configured("{agents:{entries:{main:{workspace:' ~/own '}}}}", main="~/own"),
    "several agents": configured(
        "{agents:{entries:{main:{},ops:{default:true},lab:{workspace:'~/lab'}}}}",
        main="~/.openclaw/workspace-main", ops="~/.openclaw/workspace", lab="~/lab",
    ),
    "several agents below one folder": configured(
        "{agents:{defaults:{workspace:'~/ws'},entries:{main:{},ops:{default:true}}}}", main="~/ws/main", ops="~/ws"
    ),
    "several agents and no default": configured(
        "{agents:{ownership:'explicit',entries:{main:{},ops:{}}}}",
        main="~/.openclaw/workspace-main", ops="~/.openclaw/workspace-ops",
    ),
    "agents in a list": configured(
        "{agents:{list:[{id:'x',default:true},{id:'main'}]}}",
        x="~/.openclaw/workspace", main="~/.openclaw/workspace-main",
    ),
}  # fmt: skip
