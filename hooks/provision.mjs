/**
 * `openclaw memory setup`: the Python part, installed from the source in this package into an environment of its own.
 *
 * OpenClaw runs no install scripts of plugins, so a person who installed only the plugin runs this once.
 */

import { execFile, spawn } from "node:child_process";
import { access, cp, mkdir, mkdtemp, open, rename, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { childEnvironment, executableIn, privateEnvironment, SETUP_COMMAND, UnavailableError } from "./child.mjs";

const OLDEST = [3, 11];
const CANDIDATES = ["python3.13", "python3.12", "python3.11", "python3", "python3.14", "python"];
const KEPT_LINES = 2000;
const COMPILERS = ["c++", "g++", "clang++"];
const PROBE = `
import json, sys, importlib.util as u
print(json.dumps({"version": list(sys.version_info[:3]), "executable": sys.executable,
                  "missing": [m for m in ("venv", "ensurepip") if u.find_spec(m) is None]}))
`;
const PYTHON_SOURCE = ["pyproject.toml", "README.md", "LICENSE", "openclaw_memory"];
const PLUGIN_FILES = ["package.json", "openclaw.plugin.json", "hooks", "skill"];

const execute = promisify(execFile);

/**
 * The first Python that can make the environment.
 *
 * @returns {Promise<{executable: string, version: number[]}>}
 * @throws {UnavailableError} with what is missing, and how to get it
 */
export async function findPython(named, candidates = CANDIDATES) {
  const problems = [];
  for (const candidate of named ? [named] : candidates) {
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
  for (const compiler of COMPILERS) {
    try {
      await execute(compiler, ["--version"], { timeout: 20_000 });
      return true;
    } catch {
      // the next one
    }
  }
  return false;
}

/** Install, configure, ingest; resolves to an exit code. */
export async function setUp(host, { python, force = false, yes = false } = {}) {
  const say = (line) => process.stdout.write(`${line}\n`);
  const environment = privateEnvironment(host.stateDir());
  const executable = executableIn(environment);
  if (!force && (await installedVersion(executable)) === host.version) {
    say(`openclaw-memory ${host.version} is installed in ${environment}`);
  } else {
    const found = await findPython(python);
    say(`Python ${found.version.join(".")} (${found.executable})`);
    if (!(await hasCompiler())) {
      say(
        "No C++ compiler found: llama.cpp has to be compiled unless pip finds a prebuilt wheel of llama-cpp-python.\n" +
          "  Debian, Ubuntu: apt install build-essential    Fedora: dnf install gcc-c++    macOS: xcode-select --install",
      );
    }
    await install(host, found.executable, environment);
    const version = await installedVersion(executable);
    if (!version) throw new UnavailableError(`${executable} was installed and does not run`, "Report what it prints with --version");
    say(`openclaw-memory ${version} is installed in ${environment}`);
  }
  return await configure(host, executable, yes);
}

async function installedVersion(executable) {
  try {
    const { stdout } = await execute(executable, ["--version"], { timeout: 60_000 });
    return /(\d+\.\d+\S*)\s*$/.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}

async function install(host, python, environment) {
  const folder = path.dirname(environment);
  const previous = `${environment}.previous`;
  const log = path.join(folder, "setup.log");
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
  try {
    await copySource(host.rootDir, source);
    if (await exists(previous)) {
      // An earlier installation was interrupted: what it had set aside is the one that works.
      await rm(environment, { recursive: true, force: true });
      await rename(previous, environment);
    }
    if (await exists(environment)) await rename(environment, previous);
    try {
      progress.step("making a virtual environment");
      await logged(python, ["-m", "venv", environment], process.env, writer, progress);
      const inside = path.join(environment, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
      progress.step("installing openclaw-memory; compiling llama.cpp takes minutes when no wheel of it is there");
      const arguments_ = ["-m", "pip", "install", "--verbose", "--no-input", "--disable-pip-version-check", source];
      await logged(inside, arguments_, buildEnvironment(source), writer, progress);
    } catch (error) {
      await rm(environment, { recursive: true, force: true });
      if (await exists(previous)) await rename(previous, environment);
      throw new UnavailableError(`the installation failed: ${error.message} (all of it: ${log})`, `Mend that, then run again: ${SETUP_COMMAND}`);
    }
    await rm(previous, { recursive: true, force: true });
  } finally {
    progress.end();
    writer.end();
    await rm(source, { recursive: true, force: true });
  }
}

async function copySource(from, to) {
  const own = (file) => !/(^|[\\/])(__pycache__|node_modules|\.git)$/.test(file);
  for (const name of [...PYTHON_SOURCE, ...PLUGIN_FILES]) {
    const there = path.join(from, name);
    if (await exists(there)) await cp(there, path.join(to, name), { recursive: true, filter: own });
    else if (name === "openclaw_memory" || name === "pyproject.toml") {
      throw new UnavailableError(`${there} is missing`, "Install the plugin again: openclaw plugins install");
    }
  }
}

/** Compile only what embedding uses of llama.cpp; a person's own CMAKE_ARGS are kept and win. */
function buildEnvironment(source) {
  const include = path.join(source, "openclaw_memory", "embed", "llama-only.cmake");
  const ours = `-DLLAVA_BUILD=OFF "-DCMAKE_PROJECT_INCLUDE=${include}"`;
  return { ...process.env, CMAKE_ARGS: [ours, process.env.CMAKE_ARGS].filter(Boolean).join(" ") };
}

/** Run a command with its output in the log; rejects with the line that names the cause. */
function logged(command, args, env, writer, progress) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], env });
    const lines = [];
    const keep = (text) => {
      const line = text.trim();
      if (!line) return;
      progress.heard(line);
      lines.push(line);
      if (lines.length > KEPT_LINES) lines.shift();
    };
    const hear = (stream) => {
      let rest = "";
      stream.setEncoding("utf8").on("data", (text) => {
        writer.write(text);
        const whole = (rest + text).split("\n");
        rest = whole.pop();
        whole.forEach(keep);
      });
      stream.on("end", () => keep(rest));
    };
    hear(child.stdout);
    hear(child.stderr);
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

/** One line that is overwritten on a terminal; elsewhere a line a step, and a sign of life every quarter of a minute. */
class Progress {
  #started = Date.now();
  #step = "";
  #detail = "";
  #shown = "";
  #timer = null;
  #terminal = Boolean(process.stdout.isTTY);

  step(text) {
    this.#step = text;
    this.#detail = "";
    if (!this.#terminal) process.stdout.write(`${text}\n`);
    this.#timer ??= setInterval(() => this.#draw(), this.#terminal ? 500 : 15_000);
    if (this.#terminal) this.#draw();
  }

  /** A line of pip: the steps of a build, and what is being fetched. */
  heard(line) {
    const build = /^\[(\d+)\/(\d+)\]/.exec(line);
    if (build) this.#detail = `compiled ${build[1]} of ${build[2]}`;
    else {
      const work = /^(Collecting|Downloading|Using cached|Building wheel for|Installing collected packages)\s*:?\s*(\S+)?/.exec(line);
      if (work) this.#detail = work[1] === "Installing collected packages" ? "copying files" : `${work[1].toLowerCase()} ${path.basename(work[2] ?? "")}`;
    }
  }

  #draw() {
    const took = Math.round((Date.now() - this.#started) / 1000);
    const line = `${this.#terminal ? this.#step.split(";")[0] : "…"} ${took} s${this.#detail ? `, ${this.#detail}` : ""}`;
    if (!this.#terminal) process.stdout.write(`${line}\n`);
    else {
      const width = (process.stdout.columns ?? 80) - 1;
      process.stdout.write(`\r${line.slice(0, width).padEnd(Math.min(width, this.#shown.length))}`);
      this.#shown = line.slice(0, width);
    }
  }

  end() {
    clearInterval(this.#timer);
    this.#timer = null;
    if (this.#terminal && this.#shown) process.stdout.write(`\r${" ".repeat(this.#shown.length)}\r`);
  }
}

/** The rest is the same from either side: slot, permissions, model, first ingest and a search. */
function configure(host, executable, yes) {
  const args = ["setup", "openclaw", "--installed", ...(yes ? ["--yes"] : [])];
  const node = path.dirname(process.execPath);
  const env = {
    ...childEnvironment(process.env, host.stateDir()),
    PATH: [node, process.env.PATH].filter(Boolean).join(path.delimiter),
  };
  const entry = process.argv[1];
  if (entry) args.push("--openclaw", entry);
  return new Promise((resolve, reject) => {
    const child = spawn(executable, args, { stdio: "inherit", env });
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
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
