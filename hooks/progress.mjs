/** What a person sees while an installation runs. */

import { escaped } from "./arguments.mjs";

/** One line that is overwritten on a terminal; elsewhere a line a step, and a sign of life every quarter of a minute. */
export class Progress {
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

  /** A line that stays. */
  say(line) {
    this.#clear();
    process.stdout.write(`${line}\n`);
  }

  /** A line of what is being run; the last one is shown. */
  heard(line) {
    this.#detail = escaped(line.slice(0, 100));
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
    this.#clear();
  }

  #clear() {
    if (this.#terminal && this.#shown) process.stdout.write(`\r${" ".repeat(this.#shown.length)}\r`);
    this.#shown = "";
  }
}
