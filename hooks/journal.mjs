/** Turns that are to be captured, in files of their own until they are: no end of a process loses them. */

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

const MOST = 200; // turns, then the oldest goes

let count = 0;

export class Journal {
  #folder;

  /** @param {() => string} stateDir of OpenClaw, known only later */
  constructor(stateDir) {
    this.#folder = () => path.join(stateDir(), "openclaw-memory", "waiting");
  }

  /** Write down a turn in one step, before anything else is done with it; its name. */
  add(turn) {
    const folder = this.#folder();
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const name = `${Date.now()}-${String(count++).padStart(6, "0")}-${process.pid}.json`;
    const file = path.join(folder, name);
    writeFileSync(`${file}.new`, JSON.stringify(turn), { mode: 0o600, flush: true });
    renameSync(`${file}.new`, file);
    for (const old of this.#names().slice(0, -MOST)) this.remove(old);
    return name;
  }

  remove(name) {
    if (name) rmSync(path.join(this.#folder(), name), { force: true });
  }

  /** Name and turn of each, the oldest first; what cannot be read is no turn. */
  turns() {
    return this.#names().flatMap((name) => {
      try {
        const turn = JSON.parse(readFileSync(path.join(this.#folder(), name), "utf8"));
        return turn?.subject && Array.isArray(turn.parts) ? [[name, turn]] : [];
      } catch {
        return [];
      }
    });
  }

  clear() {
    rmSync(this.#folder(), { recursive: true, force: true });
  }

  #names() {
    try {
      return readdirSync(this.#folder()).filter((name) => name.endsWith(".json")).sort();
    } catch {
      return [];
    }
  }
}
