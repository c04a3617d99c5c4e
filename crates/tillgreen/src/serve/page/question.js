// @ts-check
// The card of an open question. It is answered once: who comes second is told who was first.

import { Refused, say } from "./api.js";
import { announce, clock, confirmed, el, put } from "./dom.js";

/** @typedef {import("./types").Question} Question */
/** @typedef {import("./types").Answered} Answered */

/** @type {Record<string, string>} */
const LABELS = { retry: "Retry", skip: "Skip", abort: "Abort", approve: "Approve" };
/** @type {Record<string, string>} */
const FIELDS = { "fix:": "What to do", "reject:": "What is wrong", ":": "Your answer" };

/** The cards of a page: one for each open question, with what became of those that were there. */
export class Cards {
  constructor() {
    this.element = el("div.cards");
    /** @type {Map<string, { card: HTMLElement, question: Question, plan: string, is_over: boolean, said: HTMLElement }>} */
    this.cards = new Map();
  }

  /**
   * Shows the question of a run, or what became of the one that was shown.
   * @param {string} run
   * @param {string} plan
   * @param {Question | null | undefined} question
   * @param {Answered | null} [answered]
   */
  show(run, plan, question, answered) {
    const known = this.cards.get(run);
    if (known && question && known.question.since === question.since) return;
    if (known && !known.is_over) this.close(run, answered ?? null);
    if (question) this.open(run, plan, question);
  }

  /** @param {string} run @param {string} plan @param {Question} question */
  open(run, plan, question) {
    this.cards.get(run)?.card.remove();
    const said = el("p.said", { role: "status" });
    const answer = (/** @type {string} */ text) => this.answer(run, question, text);
    const buttons = el("div.buttons");
    const fields = [];
    for (const word of question.words) {
      if (word.endsWith(":")) fields.push(field(word, answer));
      else buttons.append(button(word, question, answer));
    }
    const card = el(
      "section.card", { "aria-label": `Question about task ${question.task}` },
      el("h2", null, `? ${plan}: ${question.task} ${question.title}`),
      question.error && el("p.error", null, question.error),
      el("details", null, el("summary", null, "All that is known"), el("pre", null, question.text)),
      buttons, ...fields, said,
    );
    this.cards.set(run, { card, question, plan, is_over: false, said });
    this.element.append(card);
    announce(`A question about task ${question.task}`);
  }

  /** @param {string} run @param {Question} question @param {string} text */
  async answer(run, question, text) {
    const known = this.cards.get(run);
    if (!known) return;
    put(known.said, "Telling the run …");
    try {
      const { task, since } = question;
      put(known.said, await say({ what: "answer", run, task, since, text }));
      if (!known.is_over) enable(known.card, false);
    } catch (error) {
      put(known.said, error instanceof Error ? error.message : String(error));
      if (error instanceof Refused && error.status === 409) enable(known.card, false);
    }
  }

  /** Closes a card, and says by whom it was answered. @param {string} run @param {Answered | null} answered */
  close(run, answered) {
    const known = this.cards.get(run);
    if (!known) return;
    known.is_over = true;
    enable(known.card, false);
    known.card.classList.add("over");
    if (answered && answered.task === known.question.task) {
      const by = answered.by ?? "somebody at the run's terminal";
      put(known.said, `Answered by ${by} at ${clock(answered.at)}: ${answered.text}`);
    } else {
      put(known.said, "This question is not open any more.");
    }
    setTimeout(() => {
      if (this.cards.get(run) !== known) return;
      known.card.remove();
      this.cards.delete(run);
    }, 20_000);
  }

  /** Goes to the first button. */
  focus() {
    const control = this.element.querySelector("button:not(:disabled), input:not(:disabled)");
    if (control instanceof HTMLElement) control.focus();
    return control !== null;
  }
}

/** @param {HTMLElement} card @param {boolean} is_on */
function enable(card, is_on) {
  for (const control of card.querySelectorAll("button, input")) {
    /** @type {HTMLButtonElement} */ (control).disabled = !is_on;
  }
}

/** @param {string} word @param {Question} question @param {(text: string) => void} answer */
function button(word, question, answer) {
  const pressed = async () => {
    const is_meant = word !== "abort" || (await confirmed(`End the run at task ${question.task}?`, "Abort"));
    if (is_meant) answer(word);
  };
  return el(word === "abort" ? "button.danger" : "button", { type: "button", onclick: pressed }, LABELS[word] ?? word);
}

/** @param {string} word @param {(text: string) => void} answer */
function field(word, answer) {
  const label = FIELDS[word] ?? word;
  const input = /** @type {HTMLInputElement} */ (el("input", { type: "text", "aria-label": label, placeholder: label }));
  const submitted = (/** @type {Event} */ event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text !== "") answer(word === ":" ? text : `${word} ${text}`);
  };
  const name = word === ":" ? "Answer" : word === "fix:" ? "Fix" : "Reject";
  return el("form.line", { onsubmit: submitted }, input, el("button", null, name));
}
