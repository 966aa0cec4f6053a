import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { access, chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { executableIn, privateEnvironment } from "../../hooks/child.mjs";
import { switchTo } from "../../hooks/environment.mjs";
import { buildOf, causeIn, findPython, setUp } from "../../hooks/provision.mjs";
import { folder, until } from "./helpers.mjs";

/**
 * A program that behaves like Python as far as an installation goes: tells its version, makes an environment with itself in
 * it, and "installs" a command that notes how it was called. `fails` are the bindings that it cannot install, or "all".
 */
async function fakePython(file, { version = [3, 12, 1], missing = [], fails = [] } = {}) {
  const probe = JSON.stringify({ version, executable: file, missing });
  const failing = fails.map((name) => `*"[${name}]") echo "ERROR: No matching distribution found for ${name}" >&2; exit 1 ;;`);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(
    file,
    `#!/bin/sh
if [ "$1" != -I ] || [ "$PWD" = "${process.cwd()}" ]; then echo "a module of the working folder would be run" >&2; exit 1; fi
shift
if [ "$1" = -c ]; then echo '${probe}'; exit 0; fi
if [ "$2" = venv ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; exit 0; fi
if [ "$2" = pip ]; then
  here=$(dirname "$0")
  echo "$*" >> "$here/installs"
  for source; do :; done
  echo "[1/83] Building"
  case $source in ${failing.join(" ")} esac
  source=${"${source%%[*}"}
  [ -f "$source/pyproject.toml" ] && [ -f "$source/openclaw_memory/__init__.py" ] || { echo "ERROR: no source" >&2; exit 1; }
  ${fails.includes("all") ? 'echo "error: subprocess-exited-with-error" >&2; echo "ERROR: No matching distribution found for duckdb" >&2; exit 1' : ""}
  printf '{"version": "0.1.0", "build": "%s"}\\n' "$FAKE_BUILD" > "$here/told"
  printf '#!/bin/sh\\nif [ "$1" = --version ]; then cat "%s/told"; exit 0; fi\\necho "$*" > "%s/called"\\nexit 5\\n' "$here" "$here" > "$here/openclaw-memory"
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
  await mkdir(path.join(rootDir, ".ci"));
  await writeFile(path.join(rootDir, ".ci", "constraints.txt"), "");
  await writeFile(path.join(rootDir, "openclaw_memory", "__init__.py"), "");
  const home = path.join(state, "openclaw-memory");
  process.env.FAKE_BUILD = await buildOf(rootDir);
  return { rootDir, stateDir: () => state, version: "0.1.0", home, python: path.join(state, "bin", "python3") };
}

const { PATH } = process.env;
delete process.env.CMAKE_ARGS;

/** A PATH with what the programs here need, and these of: uv, a compiler. */
async function tools(t, { uv, compiler = false } = {}) {
  const bin = await folder(t);
  const found = (name) => PATH.split(path.delimiter).map((at) => path.join(at, name)).find(existsSync);
  for (const name of ["mkdir", "cp", "cat", "dirname", "chmod"]) await symlink(found(name), path.join(bin, name));
  const program = (name, body) => writeFile(path.join(bin, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  if (compiler) await program("c++", "exit 0");
  if (uv) {
    const make = 'while [ "$2" ]; do [ "$1" = --python ] && python=$2; shift; done; mkdir -p "$1/bin" && cp "$python" "$1/bin/python"';
    const install = uv === "works" ? '[ "$3" = --compile-bytecode ] || exit 3; shift 4; python=$1; shift; exec "$python" -I -m pip install "$@"' : 'echo "error: Failed to fetch" >&2; exit 2';
    await program("uv", `case $1 in venv) ${make} ;; pip) ${install} ;; esac`);
  }
  process.env.PATH = bin;
}

/** What was said on standard output while this ran. */
async function saidBy(run) {
  const said = [];
  const write = process.stdout.write;
  process.stdout.write = (text) => said.push(text) > 0;
  try {
    await run();
  } finally {
    process.stdout.write = write;
  }
  return said.join("");
}

/** The calls of pip in an environment, without the path of the source. */
async function installs(environment) {
  const lines = (await readFile(path.join(environment, "bin", "installs"), "utf8")).trim().split("\n");
  const short = lines.map((line) => line.replace(/-m pip install (?:--\S+ )*/, "").replaceAll(/\/\S*openclaw-memory-\w+/g, "SOURCE"));
  for (const line of short) assert.match(line, /^-c SOURCE\/\.ci\/constraints\.txt /, "what is installed is what was tested");
  return short.map((line) => line.replace(/^-c \S+ /, ""));
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

test("no program of the working folder is run, wherever PATH says that programs are", async (t) => {
  const here = await folder(t);
  const was = process.cwd();
  t.after(() => process.chdir(was));
  process.chdir(here);
  for (const name of ["python3", "python3.12", "uv", "c++"]) await writeFile(name, "#!/bin/sh\n: > EXECUTED\n", { mode: 0o755 });
  await tools(t);
  process.env.PATH = ["", ".", process.env.PATH].join(path.delimiter);
  await assert.rejects(setUp(await host(t)), /there is none on PATH/);
  assert.equal(existsSync("EXECUTED"), false);
});

test("setup installs from the plugin's source, prebuilt and without a compiler, then hands over to the Python command", async (t) => {
  await tools(t);
  const at = await host(t);
  const python = await fakePython(at.python);
  const said = await saidBy(async () => assert.equal(await setUp(at, { python, yes: true }), 5, "the exit code of the Python command"));
  const environment = privateEnvironment(at.stateDir());
  assert.equal(environment, path.join(at.home, "venv-0.1.0"));
  assert.match(await readFile(path.join(environment, "bin", "called"), "utf8"), /^setup openclaw --installed --yes --openclaw /);
  assert.deepEqual(await installs(environment), ["--only-binary xllamacpp SOURCE[prebuilt]"]);
  assert.match(await readFile(path.join(at.home, "setup.log"), "utf8"), /\[1\/83\] Building/);
  assert.doesNotMatch(said, /compil/);
});

test("without a wheel for this machine llama.cpp is compiled, and that is said", async (t) => {
  await tools(t, { compiler: true });
  const at = await host(t);
  const python = await fakePython(at.python, { fails: ["prebuilt"] });
  const said = await saidBy(() => setUp(at, { python }));
  const environment = privateEnvironment(at.stateDir());
  assert.deepEqual(await installs(environment), ["--only-binary xllamacpp SOURCE[prebuilt]", "SOURCE[llama-cpp-python]"]);
  assert.match(await readFile(path.join(environment, "bin", "cmake-args"), "utf8"), /"-DCMAKE_PROJECT_INCLUDE=.*llama-only\.cmake"/);
  assert.match(said, /the prebuilt one failed: ERROR: No matching distribution found for prebuilt/);
  assert.match(said, /llama\.cpp compiled here, which takes minutes/);
});

test("without a wheel and a compiler there are keywords, and one line says how to have more", async (t) => {
  for (const [compiler, fails, reason] of [[false, ["prebuilt"], /there is no C\+\+ compiler/], [true, ["prebuilt", "llama-cpp-python"], /compiling it failed: ERROR/]]) {
    await tools(t, { compiler });
    const at = await host(t);
    const python = await fakePython(at.python, { fails });
    const said = await saidBy(async () => assert.equal(await setUp(at, { python }), 5));
    const done = await installs(privateEnvironment(at.stateDir()));
    assert.deepEqual([done[0], done.at(-1)], ["--only-binary xllamacpp SOURCE[prebuilt]", "SOURCE"]);
    assert.match(said, /by keywords only/);
    assert.match(said, reason);
    assert.match(said, /install a C\+\+ compiler .*openclaw memory setup --force/);
  }
});

test("who has set CMAKE_ARGS gets what they ask for compiled", async (t) => {
  await tools(t, { compiler: true });
  process.env.CMAKE_ARGS = "-DGGML_CUDA=on";
  t.after(() => delete process.env.CMAKE_ARGS);
  const at = await host(t);
  await saidBy(async () => setUp(at, { python: await fakePython(at.python) }));
  const environment = privateEnvironment(at.stateDir());
  assert.deepEqual(await installs(environment), ["SOURCE[llama-cpp-python]"]);
  assert.match(await readFile(path.join(environment, "bin", "cmake-args"), "utf8"), /llama-only\.cmake" -DGGML_CUDA=on/);
});

test("uv does it where it is, also without the modules that pip needs; where it cannot, pip does", async (t) => {
  for (const uv of ["works", "is offline"]) {
    await tools(t, { uv });
    const at = await host(t);
    const said = await saidBy(async () => setUp(at, { python: await fakePython(at.python) }));
    assert.deepEqual(await installs(privateEnvironment(at.stateDir())), ["--only-binary xllamacpp SOURCE[prebuilt]"]);
    assert.equal(said.includes("uv could not install it"), uv !== "works", said);
    assert.deepEqual((await readdir(at.home)).sort(), ["setup.log", "venv-0.1.0", "venv.current"]);
  }
});

test("what is installed already is not installed again, unless it is asked for; then the one that runs stays", async (t) => {
  await tools(t);
  const at = await host(t);
  const python = await fakePython(at.python);
  await saidBy(() => setUp(at, { python }));
  const first = privateEnvironment(at.stateDir());
  const before = await stat(executableIn(first));
  await saidBy(() => setUp(at, { python: "/not/there" }));
  assert.equal(privateEnvironment(at.stateDir()), first);
  await saidBy(() => setUp(at, { python, force: true }));
  assert.equal(privateEnvironment(at.stateDir()), path.join(at.home, "venv-0.1.0-2"));
  const after = await stat(executableIn(first));
  assert.deepEqual([after.ino, after.mtimeMs], [before.ino, before.mtimeMs]);
});

test("an environment of an older tree of the same version is made anew", async (t) => {
  await tools(t);
  const at = await host(t);
  const python = await fakePython(at.python);
  await saidBy(() => setUp(at, { python }));
  const first = privateEnvironment(at.stateDir());
  await writeFile(path.join(at.rootDir, "openclaw_memory", "new.py"), "");
  await assert.rejects(saidBy(() => setUp(at, { python })), /is 0\.1\.0, build /, "what pip made is not of these sources");
  process.env.FAKE_BUILD = await buildOf(at.rootDir);
  await saidBy(() => setUp(at, { python }));
  assert.equal(privateEnvironment(at.stateDir()), path.join(at.home, "venv-0.1.0-2"));
  await writeFile(path.join(first, "bin", "told"), "openclaw-memory, version 0.1.0"); // of a time before builds
  await switchTo(first);
  await saidBy(() => setUp(at, { python }));
  assert.equal(privateEnvironment(at.stateDir()), path.join(at.home, "venv-0.1.0-3"));
});

test("the build of the package is the same for the plugin and for Python", async (t) => {
  const { rootDir } = await host(t);
  const root = path.join(rootDir, "openclaw_memory");
  for (const name of ["b.py", "é/ü.txt", "a/x.md", "a.b", ".hidden", "__pycache__/a.pyc", "_openclaw/package.json"]) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), name);
  }
  const script = "import pathlib, runpy, sys; print(runpy.run_path(sys.argv[1])['build_id'](pathlib.Path(sys.argv[2])))";
  const version = fileURLToPath(new URL("../../openclaw_memory/version.py", import.meta.url));
  const { stdout } = await promisify(execFile)("python3", ["-I", "-c", script, version, root], { env: { PATH } });
  assert.equal(stdout.trim(), await buildOf(rootDir));
});

test("the environment of an earlier version stays in use until another one works, and there afterwards", async (t) => {
  await tools(t);
  const at = await host(t);
  const old = path.join(at.home, "venv");
  const python = await fakePython(at.python, { fails: ["prebuilt", "all"] });
  await mkdir(path.join(old, "bin"), { recursive: true });
  await writeFile(executableIn(old), "#!/bin/sh\necho openclaw-memory, version 0.0.9\n", { mode: 0o755 });
  await assert.rejects(saidBy(() => setUp(at, { python })), (error) => {
    assert.match(error.message, /the installation failed: ERROR: No matching distribution found for duckdb.*setup\.log/);
    return true;
  });
  assert.equal(privateEnvironment(at.stateDir()), old);
  assert.deepEqual((await readdir(at.home)).sort(), ["setup.log", "venv"]);
  await fakePython(at.python);
  await saidBy(() => setUp(at, { python }));
  assert.equal(privateEnvironment(at.stateDir()), path.join(at.home, "venv-0.1.0"));
  await access(executableIn(old));
});

test("an installation that was interrupted leaves the environment in use as it is, and the next one is made beside it", async (t) => {
  await tools(t);
  const at = await host(t);
  const python = await fakePython(at.python);
  await saidBy(() => setUp(at, { python }));
  const first = privateEnvironment(at.stateDir());
  const slow = await fakePython(path.join(at.stateDir(), "slow"));
  await writeFile(slow, (await readFile(slow, "utf8")).replace("= pip ]; then", `= pip ]; then : > '${slow}.began'; exec /bin/sleep 60`));
  const script = `const { setUp } = await import(${JSON.stringify(new URL("../../hooks/provision.mjs", import.meta.url).href)});
    await setUp({ rootDir: ${JSON.stringify(at.rootDir)}, stateDir: () => ${JSON.stringify(at.stateDir())}, version: "0.1.0" }, { python: ${JSON.stringify(slow)}, force: true });`;
  const setup = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "ignore", detached: true });
  await until(() => existsSync(`${slow}.began`), "the installation");
  process.kill(-setup.pid, "SIGKILL");
  assert.equal(privateEnvironment(at.stateDir()), first);
  await saidBy(() => setUp(at, { python, force: true }));
  assert.equal(privateEnvironment(at.stateDir()), path.join(at.home, "venv-0.1.0-3"));
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
