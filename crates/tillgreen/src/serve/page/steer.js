// @ts-check
// Telling, pausing and skipping.

import { say } from "./api.js";
import { announce, confirmed, el, put } from "./dom.js";

/** The line that says what became of it. */
export class Steering {
  /** @param {string} run */
  constructor(run) {
    this.run = run;
    this.said = el("p.said", { role: "status" });
    this.element = el("div.steering", null, this.said);
    /** @type {HTMLElement | null} */
    this.field = null;
  }

  /** @param {Record<string, unknown>} saying */
  async send(saying) {
    put(this.said, "Telling the run …");
    let words;
    try {
      words = await say({ run: this.run, ...saying });
    } catch (error) {
      words = error instanceof Error ? error.message : String(error);
    }
    put(this.said, words);
    announce(words);
  }

  async pause() {
    if (await confirmed("Stop after what is under way?", "Pause")) this.send({ what: "pause" });
  }

  /** @param {string} task */
  async skip(task) {
    if (await confirmed(`Skip task ${task}?`, "Skip")) this.send({ what: "skip", task });
  }

  /** Has somebody type a word to the next prompt, of a task or of whatever starts next. @param {string | null} task */
  tell(task) {
    this.field?.remove();
    const label = task ? `A word to the next prompt of task ${task}` : "A word to the next prompt";
    const input = /** @type {HTMLInputElement} */ (el("input", { type: "text", "aria-label": label, placeholder: label }));
    const close = () => this.field?.remove();
    const submitted = (/** @type {Event} */ event) => {
      event.preventDefault();
      if (input.value.trim() === "") return;
      this.send(task ? { what: "tell", task, text: input.value } : { what: "tell", text: input.value });
      close();
    };
    const keyed = (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape") close();
    };
    this.field = el("form.line", { onsubmit: submitted, onkeydown: keyed }, input, el("button", null, "Tell"));
    this.element.prepend(this.field);
    input.focus();
  }
}
