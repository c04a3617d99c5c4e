// @ts-check
// A long text: of a log of megabytes the page has the lines that are seen. Searching is the server's.

import { ask } from "./api.js";
import { el, put } from "./dom.js";

/** @typedef {import("./types").Part} Part */

const HEIGHT = 18;
const PAGE = 200;

export class Text {
  /**
   * @param {Record<string, string | number | null>} query what tells the server which text
   * @param {string} link what a link to a line begins with
   * @param {{ follows: boolean, empty: string }} how
   */
  constructor(query, link, how) {
    this.query = query;
    this.link = link;
    this.how = how;
    this.total = 0;
    /** @type {Map<number, [string, string][]>} */
    this.pages = new Map();
    /** @type {Set<number>} */
    this.asked = new Set();
    /** @type {number[]} */
    this.hits = [];
    this.hit = -1;
    this.marked = -1;
    this.is_closed = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.space = el("div.space");
    this.box = el("div.lines", { tabindex: 0, role: "region", "aria-label": "Text", onscroll: () => this.draw() }, this.space);
    this.find = /** @type {HTMLInputElement} */ (el("input", { type: "search", "aria-label": "Find in this text", placeholder: "Find in this text" }));
    this.said = el("span.faint", { role: "status" });
    const search = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.search();
    };
    this.element = el("div.text", null,
      el("form.line", { onsubmit: search }, this.find, el("button", null, "Find"),
        el("button", { type: "button", "aria-label": "The hit before", onclick: () => this.next(-1) }, "↑"),
        el("button", { type: "button", "aria-label": "The next hit", onclick: () => this.next(1) }, "↓"), this.said),
      this.box);
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  /** Begins, at a line or where it is of most interest. @param {number | null} line counted from 1 */
  async open(line) {
    const from = line === null ? (this.how.follows ? null : 0) : Math.max(0, line - 1 - PAGE / 2);
    const part = await this.load(from);
    if (!part) return;
    this.marked = line === null ? -1 : line - 1;
    this.draw();
    if (line !== null) this.reveal(line - 1);
    else if (this.how.follows) this.box.scrollTop = this.total * HEIGHT;
    this.draw();
    if (this.how.follows) this.timer = setTimeout(() => this.look(), 1000);
  }

  /** @param {number | null} from */
  async load(from) {
    /** @type {Part} */
    let part;
    try {
      part = await ask("/api/text", { ...this.query, from, count: from === null ? PAGE : 2 * PAGE });
    } catch (error) {
      put(this.said, error instanceof Error ? error.message : String(error));
      return null;
    }
    if (this.is_closed) return null;
    this.total = part.total;
    part.lines.forEach((line, place) => {
      const [page, at] = [Math.floor((part.from + place) / PAGE), (part.from + place) % PAGE];
      const lines = this.pages.get(page) ?? [];
      lines[at] = line;
      this.pages.set(page, lines);
    });
    return part;
  }

  /** Looks whether the text has grown, and stays at its end where that is what is seen. */
  async look() {
    const is_at_end = this.box.scrollTop + this.box.clientHeight >= this.total * HEIGHT - 2 * HEIGHT;
    const before = this.total;
    await this.load(null);
    if (this.is_closed) return;
    if (this.total < before) this.pages.clear();
    if (this.total !== before) {
      this.draw();
      if (is_at_end) this.box.scrollTop = this.total * HEIGHT;
    }
    this.timer = setTimeout(() => this.look(), 1000);
  }

  async search() {
    const find = this.find.value.trim();
    const answer = find === "" ? { hits: [] } : await ask("/api/text", { ...this.query, find });
    this.hits = answer.hits;
    this.hit = -1;
    if (this.hits.length > 0) this.next(1);
    else put(this.said, find === "" ? "" : "Nothing found.");
  }

  /** Goes to another hit. @param {number} by */
  next(by) {
    if (this.hits.length === 0) return;
    this.hit = (this.hit + by + this.hits.length) % this.hits.length;
    put(this.said, `${this.hit + 1} of ${this.hits.length}`);
    this.marked = this.hits[this.hit];
    this.reveal(this.marked);
  }

  /** @param {number} line */
  reveal(line) {
    this.box.scrollTop = Math.max(0, line * HEIGHT - this.box.clientHeight / 2);
    this.draw();
  }

  draw() {
    this.space.style.height = `${this.total * HEIGHT}px`;
    const first = Math.max(0, Math.floor(this.box.scrollTop / HEIGHT) - 5);
    const last = Math.min(this.total, Math.ceil((this.box.scrollTop + this.box.clientHeight) / HEIGHT) + 5);
    const shown = [];
    for (let place = first; place < last; place += 1) shown.push(this.line(place));
    put(this.space, ...shown);
    if (this.total === 0) put(this.space, el("p.empty", null, this.how.empty));
  }

  /** @param {number} place */
  line(place) {
    const page = Math.floor(place / PAGE);
    const line = this.pages.get(page)?.[place % PAGE];
    if (!line && !this.asked.has(page)) {
      this.asked.add(page);
      this.load(page * PAGE).then(() => {
        this.asked.delete(page);
        if (!this.is_closed) this.draw();
      });
    }
    const [tone, text] = line ?? ["faint", "…"];
    const marked = place === this.marked ? ".marked" : "";
    const element = el(`div.textline${tone ? `.${tone}` : ""}${marked}`, null,
      el("a.number", { href: `${this.link}.L${place + 1}`, tabindex: -1, "aria-label": `Line ${place + 1}` }, place + 1), el("code", null, text));
    element.style.transform = `translateY(${place * HEIGHT}px)`;
    return element;
  }

  close() {
    this.is_closed = true;
    clearTimeout(this.timer);
  }
}
