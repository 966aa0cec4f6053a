import assert from "node:assert/strict";
import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { executableIn, privateEnvironment } from "../../hooks/child.mjs";
import { causeIn, findPython, setUp } from "../../hooks/provision.mjs";
import { folder } from "./helpers.mjs";

/**
 * A program that behaves like Python as far as an installation goes: tells its version, makes an environment with itself in
 * it, and "installs" a command that notes how it was called.
 */
async function fakePython(file, { version = [3, 12, 1], missing = [], pipFails = false } = {}) {
  const probe = JSON.stringify({ version, executable: file, missing });
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(
    file,
    `#!/bin/sh
if [ "$2" = -c ]; then echo '${probe}'; exit 0; fi
if [ "$2" = venv ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; exit 0; fi
if [ "$2" = pip ]; then
  for source; do :; done
  echo "[1/83] Building"
  [ -f "$source/pyproject.toml" ] && [ -f "$source/openclaw_memory/__init__.py" ] || { echo "ERROR: no source" >&2; exit 1; }
  ${pipFails ? 'echo "error: subprocess-exited-with-error" >&2; echo "CMake Error: no CMAKE_CXX_COMPILER could be found" >&2; exit 1' : ""}
  here=$(dirname "$0")
  printf '#!/bin/sh\\nif [ "$1" = --version ]; then echo "openclaw-memory, version 0.1.0"; exit 0; fi\\necho "$*" > "%s/called"\\nexit 5\\n' "$here" > "$here/openclaw-memory"
  chmod +x "$here/openclaw-memory"
  echo "$CMAKE_ARGS" > "$here/cmake-args"
fi
`,
  );
  await chmod(file, 0o755);
  return file;
}

async function host(t) {
  const rootDir = await folder(t);
  const state = await folder(t);
  await mkdir(path.join(rootDir, "openclaw_memory", "__pycache__"), { recursive: true });
  await writeFile(path.join(rootDir, "pyproject.toml"), "");
  await writeFile(path.join(rootDir, "openclaw_memory", "__init__.py"), "");
  return { rootDir, stateDir: () => state, version: "0.1.0", environment: privateEnvironment(state), python: path.join(state, "bin", "python3") };
}

test("the first Python that is new enough and can make an environment is taken", async (t) => {
  const bin = await folder(t);
  const old = await fakePython(path.join(bin, "old"), { version: [3, 10, 9] });
  const bare = await fakePython(path.join(bin, "bare"), { missing: ["venv"] });
  const good = await fakePython(path.join(bin, "good"), { version: [3, 11, 0] });
  assert.deepEqual(await findPython(undefined, [path.join(bin, "none"), old, bare, good]), { executable: good, version: [3, 11, 0] });
  await assert.rejects(findPython(undefined, [old, bare]), (error) => {
    assert.match(error.message, /3\.11 or newer.*old is 3\.10\.9.*bare has no module venv.*apt install python3\.12-venv/);
    assert.match(error.action, /openclaw memory setup/);
    return true;
  });
  await assert.rejects(findPython(undefined, []), /there is none on PATH/);
  await assert.rejects(findPython(path.join(bin, "none")), /does not run as Python/);
});

test("setup installs from the plugin's source, then hands over to the Python command", async (t) => {
  const at = await host(t);
  const code = await setUp(at, { python: await fakePython(at.python), yes: true });
  assert.equal(code, 5, "the exit code of the Python command");
  const bin = path.join(at.environment, "bin");
  assert.match(await readFile(path.join(bin, "called"), "utf8"), /^setup openclaw --installed --yes --openclaw /);
  assert.match(await readFile(path.join(bin, "cmake-args"), "utf8"), /"-DCMAKE_PROJECT_INCLUDE=.*llama-only\.cmake"/);
  const log = await readFile(path.join(path.dirname(at.environment), "setup.log"), "utf8");
  assert.match(log, /\[1\/83\] Building/);
});

test("what is installed already is not installed again, unless it is asked for", async (t) => {
  const at = await host(t);
  const python = await fakePython(at.python);
  await setUp(at, { python });
  const first = (await stat(executableIn(at.environment))).ino;
  await setUp(at, { python: "/not/there" });
  assert.equal((await stat(executableIn(at.environment))).ino, first);
  await setUp(at, { python, force: true });
  assert.notEqual((await stat(executableIn(at.environment))).ino, first);
});

test("a failed installation names its cause and leaves the old environment", async (t) => {
  const at = await host(t);
  await setUp(at, { python: await fakePython(at.python) });
  const before = await readFile(executableIn(at.environment), "utf8");
  await fakePython(at.python, { pipFails: true });
  await assert.rejects(setUp(at, { python: at.python, force: true }), (error) => {
    assert.match(error.message, /the installation failed: CMake Error: no CMAKE_CXX_COMPILER could be found.*setup\.log/);
    return true;
  });
  assert.equal(await readFile(executableIn(at.environment), "utf8"), before);
});

test("of a failed build the line is told that names the cause", () => {
  const summary = ["error: subprocess-exited-with-error", "ERROR: Failed building wheel for llama-cpp-python", "note: See above for output."];
  const cause = (...lines) => causeIn([...lines, ...summary]);
  assert.match(cause("CMake Error at CMakeLists.txt:5 (project):", "No CMAKE_CXX_COMPILER could be found."), /No CMAKE_CXX_COMPILER could be found/);
  assert.equal(cause("x.cpp:3:1: error: expected ';'", "y.cpp:9:1: error: other"), "x.cpp:3:1: error: expected ';'");
  assert.equal(cause("Traceback (most recent call last):", "FileNotFoundError: Forced include not found: x"), "FileNotFoundError: Forced include not found: x");
  assert.equal(
    causeIn(["ERROR: Could not find a version that satisfies the requirement duckdb==1.5.5", "ERROR: No matching distribution found for duckdb==1.5.5"]),
    "ERROR: No matching distribution found for duckdb==1.5.5",
  );
  assert.equal(causeIn(["Collecting x"]), undefined);
});

test("a plugin without its Python source says so", async (t) => {
  const at = await host(t);
  await assert.rejects(setUp({ ...at, rootDir: await folder(t) }, { python: await fakePython(at.python) }), (error) => {
    assert.match(error.message, /pyproject\.toml is missing/);
    assert.match(error.action, /openclaw plugins install/);
    return true;
  });
});
