/**
 * `openclaw memory setup`: the Python part, installed from the source in this package into an environment of its own.
 *
 * OpenClaw runs no install scripts of plugins, so a person who installed only the plugin runs this once.
 */

import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { access, cp, mkdir, mkdtemp, open, readdir, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

import { childEnvironment, run } from "./child.mjs";
import { executableIn, newEnvironment, privateEnvironment, SETUP_COMMAND, switchTo, UnavailableError } from "./environment.mjs";
import { Progress } from "./progress.mjs";

const OLDEST = [3, 11];
const CANDIDATES = ["python3.13", "python3.12", "python3.11", "python3", "python3.14", "python"];
const KEPT_LINES = 2000;
const COMPILERS = ["c++", "g++", "clang++"];
const PROBE = `
import json, sys, importlib.util as u
print(json.dumps({"version": list(sys.version_info[:3]), "executable": sys.executable,
                  "missing": [m for m in ("venv", "ensurepip") if u.find_spec(m) is None]}))
`;
const CONSTRAINTS = ".ci/constraints.txt"; // the versions that the tests have run with
const PYTHON_SOURCE = ["pyproject.toml", "README.md", "LICENSE", "openclaw_memory"];
const PLUGIN_FILES = ["package.json", "openclaw.plugin.json", "hooks", "skill", CONSTRAINTS];

/** Where programs are looked for and work: no folder of PATH that begins in the working one, which may be the notes'. */
const apart = () => ({
  cwd: path.dirname(process.execPath),
  env: { ...process.env, PATH: (process.env.PATH ?? "").split(path.delimiter).filter(path.isAbsolute).join(path.delimiter) },
});
const execute = (command, args, options) => promisify(execFile)(command, args, { ...apart(), ...options });

/**
 * The first Python that can make the environment.
 *
 * @returns {Promise<{executable: string, version: number[]}>}
 * @throws {UnavailableError} with what is missing, and how to get it
 */
export async function findPython(named, candidates = CANDIDATES) {
  const problems = [];
  for (const candidate of named ? [/[\\/]/.test(named) ? path.resolve(named) : named] : candidates) {
    let found;
    try {
      found = JSON.parse((await execute(candidate, ["-I", "-c", PROBE], { timeout: 20_000 })).stdout);
    } catch (error) {
      if (named) throw new UnavailableError(`${named} does not run as Python: ${firstLine(error)}`, "Give another one with --python");
      continue;
    }
    const version = found.version.join(".");
    const old = found.version[0] < OLDEST[0] || (found.version[0] === OLDEST[0] && found.version[1] < OLDEST[1]);
    if (old) problems.push(`${found.executable} is ${version}`);
    else if (found.missing.length) {
      const short = found.version.slice(0, 2).join(".");
      problems.push(`${found.executable} has no module ${found.missing.join(" and ")} (on Debian and Ubuntu: apt install python${short}-venv)`);
    } else return { executable: found.executable, version: found.version };
  }
  const seen = problems.length ? `: ${[...new Set(problems)].join("; ")}` : ", and there is none on PATH";
  throw new UnavailableError(
    `Python 3.11 or newer with its venv module is needed${seen}`,
    `Install it, then run again: ${SETUP_COMMAND}`,
  );
}

/** Whether a C++ compiler is on PATH. */
export async function hasCompiler() {
  if (process.platform === "win32") return true; // Visual Studio's is not on PATH; the build looks for it
  for (const compiler of COMPILERS) if (await runs(compiler)) return true;
  return false;
}

async function runs(command) {
  try {
    await execute(command, ["--version"], { timeout: 20_000 });
    return true;
  } catch {
    return false;
  }
}

/** Install, configure, ingest; resolves to an exit code. */
export async function setUp(host, { python, force = false, yes = false } = {}) {
  let environment = privateEnvironment(host.stateDir());
  const wanted = { version: host.version, build: await buildOf(host.rootDir) };
  if (force || !same(await installed(executableIn(environment)), wanted)) environment = await install(host, python, wanted);
  process.stdout.write(`openclaw-memory ${host.version} is installed in ${environment}\n`);
  return await configure(host, executableIn(environment), yes);
}

/** The version and the build that a command says it is of; nothing when it does not run, or is older than builds. */
async function installed(executable) {
  try {
    return JSON.parse((await execute(executable, ["--version", "--json"], { timeout: 60_000 })).stdout);
  } catch {
    return {};
  }
}

const same = (one, other) => one.version === other.version && one.build === other.build;

/**
 * What the Python package in the plugin is, whatever its version: `build_id` of openclaw_memory/version.py makes the
 * same of it where it is installed.
 */
export async function buildOf(rootDir) {
  const root = path.join(rootDir, "openclaw_memory");
  const there = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  const names = there.filter((each) => each.isFile()).map((each) => path.relative(root, path.join(each.parentPath, each.name)));
  const own = names.map((name) => name.split(path.sep).join("/")).filter((name) => !/(^|\/)(\.|__pycache__\/|_openclaw\/)/.test(name));
  const digest = createHash("sha256");
  for (const name of own.sort()) {
    const content = await readFile(path.join(root, name));
    digest.update(`${name}\0`).update(createHash("sha256").update(content).digest());
  }
  return digest.digest("hex").slice(0, 16);
}

/** Make an environment and switch to it; the one that was in use stays as it is, and is the one in use if this fails. */
async function install(host, named, wanted) {
  const folder = path.join(host.stateDir(), "openclaw-memory");
  const log = path.join(folder, "setup.log");
  const installers = await findInstallers(named);
  let writer;
  try {
    await mkdir(folder, { recursive: true });
    writer = (await open(log, "w")).createWriteStream();
  } catch (error) {
    throw new UnavailableError(`${error.path ?? log}: ${error.code === "EISDIR" ? "is a folder" : error.message}`, "Make it writable, then run again");
  }
  writer.on("error", () => {}); // a full disk fails the installation itself, in its own words
  const source = await mkdtemp(path.join(os.tmpdir(), "openclaw-memory-"));
  const progress = new Progress();
  const runLogged = ([command, args]) => logged(command, args, buildEnvironment(source), writer, progress);
  try {
    await copySource(host.rootDir, source);
    for (const installer of installers) {
      const environment = await newEnvironment(host.stateDir(), host.version);
      try {
        progress.step(`making a virtual environment with ${installer.name}`);
        await runLogged(installer.make(environment));
        await fill(environment, source, installer, runLogged, progress);
        const made = await installed(executableIn(environment));
        if (!same(made, wanted)) throw new Error(`${executableIn(environment)} ${made.version ? `is ${made.version}, build ${made.build}` : "does not run"}`);
        await switchTo(environment);
        return environment;
      } catch (error) {
        await rm(environment, { recursive: true, force: true });
        if (installer !== installers.at(-1)) progress.say(`${installer.name} could not install it (${error.message}); trying without`);
        else throw new UnavailableError(`the installation failed: ${error.message} (all of it: ${log})`, `Mend that, then run again: ${SETUP_COMMAND}`);
      }
    }
  } finally {
    progress.end();
    writer.end();
    await rm(source, { recursive: true, force: true });
  }
}

/** What can make an environment and install into it, best first: uv, which needs no Python that is there, and Python's own venv and pip. */
async function findInstallers(named) {
  const uv = await runs("uv");
  let python;
  try {
    python = await findPython(named);
    process.stdout.write(`Python ${python.version.join(".")} (${python.executable})\n`);
  } catch (error) {
    if (named || !uv) throw error;
  }
  const inside = (environment) => path.join(environment, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
  const pip = {
    name: "pip",
    make: (environment) => [python.executable, ["-I", "-m", "venv", environment]],
    install: (environment, args) => [inside(environment), ["-I", "-m", "pip", "install", "--verbose", "--no-input", "--disable-pip-version-check", ...args]],
  };
  const withUv = {
    name: "uv",
    make: (environment) => ["uv", ["venv", "--allow-existing", "--python", python?.executable ?? `>=${OLDEST.join(".")}`, environment]],
    // As pip does: what is not compiled is compiled at the first start, for which a host waits.
    install: (environment, args) => ["uv", ["pip", "install", "--compile-bytecode", "--python", inside(environment), ...args]],
  };
  return [...(uv ? [withUv] : []), ...(python ? [pip] : [])];
}

/** Install the package with llama.cpp: prebuilt, else compiled, else without it. Who has set CMAKE_ARGS wants it compiled. */
async function fill(environment, source, installer, runLogged, progress) {
  const extras = process.env.CMAKE_ARGS ? ["llama-cpp-python", "prebuilt"] : ["prebuilt", "llama-cpp-python"];
  const reasons = [];
  const add = (...args) => runLogged(installer.install(environment, ["-c", path.join(source, CONSTRAINTS), ...args]));
  for (const extra of extras) {
    const compiles = extra === "llama-cpp-python";
    if (compiles && !(await hasCompiler())) {
      reasons.push("there is no C++ compiler to compile it");
      continue;
    }
    progress.step(`installing openclaw-memory with ${compiles ? "llama.cpp compiled here, which takes minutes" : "prebuilt llama.cpp"}`);
    try {
      // Without a wheel for this machine the prebuilt one is not to be compiled after all.
      await add(...(compiles ? [] : ["--only-binary", "xllamacpp"]), `${source}[${extra}]`);
      return;
    } catch (error) {
      reasons.push(`${compiles ? "compiling it" : "the prebuilt one"} failed: ${error.message}`);
      progress.say(`llama.cpp: ${reasons.at(-1)}`);
    }
  }
  progress.step("installing openclaw-memory without llama.cpp");
  await add(source);
  progress.say(
    `Notes will be searched by keywords only, as llama.cpp could not be installed (${reasons.join("; ")}).\n` +
      "To have meanings as well, install a C++ compiler (Debian, Ubuntu: apt install build-essential; Fedora: dnf install gcc-c++; " +
      `macOS: xcode-select --install), then run: ${SETUP_COMMAND} --force`,
  );
}

async function copySource(from, to) {
  const own = (file) => !/(^|[\\/])(__pycache__|node_modules|\.git)$/.test(file);
  for (const name of [...PYTHON_SOURCE, ...PLUGIN_FILES]) {
    const there = path.join(from, name);
    if (await exists(there)) await cp(there, path.join(to, name), { recursive: true, filter: own });
    else if (["openclaw_memory", "pyproject.toml", CONSTRAINTS].includes(name)) {
      throw new UnavailableError(`${there} is missing`, "Install the plugin again: openclaw plugins install");
    }
  }
}

/**
 * Compile only what embedding uses of llama.cpp; a person's own CMAKE_ARGS are kept and win.
 * No module of the working folder, which may be the notes', is run in the place of Python's own.
 */
function buildEnvironment(source) {
  const include = path.join(source, "openclaw_memory", "embed", "llama-only.cmake");
  const ours = `-DLLAVA_BUILD=OFF "-DCMAKE_PROJECT_INCLUDE=${include}"`;
  return { ...apart().env, PYTHONSAFEPATH: "1", CMAKE_ARGS: [ours, process.env.CMAKE_ARGS].filter(Boolean).join(" ") };
}

/** Run a command with its output in the log; rejects with the line that names the cause. */
function logged(command, args, env, writer, progress) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], cwd: apart().cwd, env });
    const lines = [];
    const keep = (text) => {
      const line = text.trim();
      if (!line) return;
      progress.heard(line);
      lines.push(line);
      if (lines.length > KEPT_LINES) lines.shift();
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (text) => writer.write(text));
      createInterface({ input: stream }).on("line", keep);
    }
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(causeIn(lines) ?? `it ended ${signal ? `by ${signal}` : `with exit code ${code}`}`));
    });
  });
}

/** The line of a build's output that says what went wrong; pip's own summary comes last and says only that something did. */
export function causeIn(lines) {
  const telling = lines.filter((line) => !/subprocess-exited-with-error|metadata-generation-failed|failed-wheel-build|See above for output/.test(line));
  const kinds = [/^CMake Error/, /\b(?:fatal )?error: \S/, /^(?:\w+\.)*\w*(?:Error|Exception): \S/, /^ERROR: \S/];
  // A compiler's first error is the cause of the rest; of a traceback or of pip's own words the last line says it.
  for (const [kind, which] of [[kinds[0], 0], [kinds[1], 0], [kinds[2], -1], [kinds[3], -1]]) {
    const found = telling.filter((line) => kind.test(line)).at(which);
    if (found) return withNext(found, telling).slice(0, 300);
  }
  return undefined;
}

/** CMake says where on the first line and what on the next. */
function withNext(line, lines) {
  if (!/^CMake Error.*:$/.test(line)) return line;
  return `${line} ${lines[lines.indexOf(line) + 1] ?? ""}`.trim();
}

/** The rest is the same from either side: slot, permissions, model, first ingest and a search. */
async function configure(host, executable, yes) {
  const args = ["setup", "openclaw", "--installed", ...(yes ? ["--yes"] : [])];
  const node = path.dirname(process.execPath);
  const env = {
    ...childEnvironment(process.env, host.stateDir()),
    PATH: [node, apart().env.PATH].filter(Boolean).join(path.delimiter),
  };
  const entry = process.argv[1];
  if (entry) args.push("--openclaw", entry);
  return (await run(executable, args, env)).code;
}

async function exists(file) {
  try {
    await access(file);
    return true;
  } catch {
    return false;
  }
}

function firstLine(error) {
  return String(error.stderr || error.message).split("\n").find((line) => line.trim()) ?? "it failed";
}
