"""OpenClaw's built-in memory, the real package: its command line indexes, its search manager answers in one Node."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import date
from pathlib import Path

from .peer import Absent, Peer, Span

_SCRIPT = """
import fs from "node:fs"; import readline from "node:readline";
const Now = Date; let shift = 0;  // old notes fade by the clock: each question is asked on its day
globalThis.Date = class extends Now {
  constructor(...given) { super(...(given.length ? given : [Now.now() + shift])); }
  static now() { return Now.now() + shift; }
};
const api = await import(`${process.argv[1]}/dist/extensions/memory-core/runtime-api.js`);
const cfg = JSON.parse(fs.readFileSync(`${process.env.OPENCLAW_STATE_DIR}/openclaw.json`, "utf8"));
const { manager, error } = await api.getMemorySearchManager({ cfg, agentId: "main" });
if (!manager) throw new Error(error);
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { query, maxResults, asked } = JSON.parse(line);
  shift = Now.parse(asked) - Now.now();
  const found = await manager.search(query, { maxResults, minScore: 0 });
  console.log("=" + JSON.stringify(found.map((one) => [one.path, one.startLine, one.endLine])));
}
process.exit(0);
"""


class MemoryCore(Peer):
    """Its chunks, FTS5 and sqlite-vec; the same endpoint."""

    name = "OpenClaw memory-core"
    install = ".ci/openclaw"
    remark = "halves a score for each 30 days of a note's age, which no setting changes"

    def __init__(self, endpoint: str) -> None:
        super().__init__(endpoint)
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        self._modules = Path(os.environ.get("OPENCLAW_E2E_CACHE") or cache / "openclaw-memory-e2e") / "node_modules"
        if not (self._modules / "openclaw").is_dir():
            raise Absent(f"no OpenClaw in {self._modules}")

    def version(self) -> str:
        """Of the npm package."""
        package = self._modules / "openclaw" / "package.json"
        return str(json.loads(package.read_text(encoding="utf-8"))["version"])

    def index(self, workspace: Path, folder: Path) -> None:
        """``openclaw memory index --force`` in a home of its own, then the process that answers."""
        search = {"provider": "openai", "model": "local", "remote": {"baseUrl": self.endpoint, "apiKey": "none"}}
        given = {"agents": {"defaults": {"workspace": str(workspace)}}, "memory": {"search": search}}
        (folder / "openclaw.json").write_text(json.dumps(given), encoding="utf-8")
        path = f"{self._modules / '.bin'}{os.pathsep}{os.environ['PATH']}"
        env = os.environ | {"HOME": str(folder), "OPENCLAW_STATE_DIR": str(folder), "PATH": path}
        env |= {"OPENCLAW_NO_RESPAWN": "1", "OPENCLAW_NO_AUTO_UPDATE": "1", "NO_COLOR": "1"}
        subprocess.run(["openclaw", "memory", "index", "--force"], env=env, check=True, capture_output=True)
        command = ["node", "--input-type=module", "-e", _SCRIPT, str(self._modules / "openclaw")]
        self._node = subprocess.Popen(command, env=env, stdin=-1, stdout=-1, stderr=subprocess.DEVNULL, text=True)

    def search(self, question: str, asked: date, limit: int) -> list[Span]:
        """Its hybrid search, with its defaults."""
        assert self._node.stdin is not None and self._node.stdout is not None
        self._node.stdin.write(json.dumps({"query": question, "maxResults": limit, "asked": asked.isoformat()}) + "\n")
        self._node.stdin.flush()
        for line in self._node.stdout:
            if line.startswith("="):
                return [Span(*row) for row in json.loads(line[1:])]
        raise RuntimeError("OpenClaw's memory ended")

    def close(self) -> None:
        """End Node."""
        self._node.terminate()
        self._node.wait()


PEER = MemoryCore
