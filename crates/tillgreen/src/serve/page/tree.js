// @ts-check
// The tasks as a tree, of which only the rows that are seen are in the page: thousands cost what a screen of them does.

import { STANDS, el, money, put, took } from "./dom.js";

/** @typedef {import("./types").Whole} Whole */
/** @typedef {import("./types").Row} Row */
/** @typedef {{ phase: number, done: number, all: number } | { task: number }} Item */

const BUSY = new Set(["works", "verify", "judged", "ready", "joins", "commits"]);
const SETTLED = new Set(["done", "skipped"]);

/** @type {Record<string, (row: Row) => boolean>} */
const FILTERS = {
  all: () => true,
  running: (row) => BUSY.has(row[4]),
  failed: (row) => row[6] > 0,
  open: (row) => !SETTLED.has(row[4]),
};

/** A screen on which a task is a view of its own, and one on which rows are for fingers. */
const NARROW = matchMedia("(max-width: 719px)");
const FINGERS = matchMedia("(max-width: 719px), (pointer: coarse)");

/** True of a task that somebody is at. @param {Row} row */
export function is_busy(row) {
  return BUSY.has(row[4]);
}

/** True of a task that is done or left out. @param {Row} row */
export function is_settled(row) {
  return SETTLED.has(row[4]);
}

export class Tree {
  /** @param {(task: string) => void} chosen told the task that is to be shown */
  constructor(chosen) {
    this.chosen = chosen;
    /** @type {Whole | null} */
    this.whole = null;
    /** @type {Item[]} */
    this.items = [];
    this.cursor = 0;
    this.filter = "all";
    this.words = "";
    /** @type {Set<number>} */
    this.folded = new Set();
    this.now = () => Date.now();
    this.find = /** @type {HTMLInputElement} */ (el("input", {
      type: "search", "aria-label": "Find a task", placeholder: "Find a task", oninput: () => this.found(),
    }));
    this.chips = el("div.chips", { role: "group", "aria-label": "Which tasks" });
    this.space = el("div.space");
    this.rows = el("div.rows", {
      role: "tree", tabindex: 0, "aria-label": "Tasks",
      onscroll: () => this.draw(),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.keyed(event),
      onclick: (/** @type {MouseEvent} */ event) => this.clicked(event),
    }, this.space);
    this.element = el("div.tree", null, this.find, this.chips, this.rows);
    new ResizeObserver(() => this.draw()).observe(this.rows);
  }

  /** The height of a row, which a finger has to hit on a small screen. */
  height() {
    return FINGERS.matches ? 44 : 30;
  }

  /** Shows what the run has become. @param {Whole} whole */
  show(whole) {
    this.whole = whole;
    this.rebuild();
  }

  rebuild() {
    const whole = this.whole;
    if (!whole) return;
    const kept = this.task();
    const takes = FILTERS[this.filter] ?? FILTERS.all;
    const words = this.words.toLowerCase();
    /** @type {Map<number, { done: number, all: number }>} */
    const phases = new Map();
    /** @type {Record<string, number>} */
    const counts = { all: 0, running: 0, failed: 0, open: 0 };
    for (const row of whole.rows) {
      const phase = phases.get(row[2]) ?? { done: 0, all: 0 };
      phase.all += 1;
      phase.done += is_settled(row) ? 1 : 0;
      phases.set(row[2], phase);
      for (const name of Object.keys(counts)) counts[name] += FILTERS[name](row) ? 1 : 0;
    }
    this.items = [];
    /** @type {number | null} */
    let latest = null;
    whole.rows.forEach((row, task) => {
      const is_found = words === "" || `${row[0]} ${row[1]}`.toLowerCase().includes(words);
      if (!takes(row) || !is_found) return;
      const phase = row[2];
      if (phases.size > 1 && phase !== latest) {
        latest = phase;
        this.items.push({ phase, ...(phases.get(phase) ?? { done: 0, all: 0 }) });
      }
      if (!this.folded.has(phase) || phases.size < 2) this.items.push({ task });
    });
    this.show_chips(counts);
    const place = kept === null ? -1 : this.place_of(kept);
    this.cursor = Math.min(place >= 0 ? place : this.cursor, Math.max(this.items.length - 1, 0));
    this.draw();
  }

  /** @param {Record<string, number>} counts */
  show_chips(counts) {
    const focused = this.chips.contains(document.activeElement) ? document.activeElement?.textContent : null;
    put(this.chips, ...Object.entries(counts).map(([name, number]) => {
      const choose = () => this.choose(name);
      return el("button.chip", { type: "button", "aria-pressed": String(name === this.filter), "data-name": name, onclick: choose },
        `${name} ${number}`);
    }));
    const name = focused?.split(" ")[0];
    if (name) /** @type {HTMLElement | null} */ (this.chips.querySelector(`[data-name="${name}"]`))?.focus();
  }

  /** @param {string} filter */
  choose(filter) {
    this.filter = filter;
    this.rebuild();
  }

  next_filter() {
    const names = Object.keys(FILTERS);
    this.choose(names[(names.indexOf(this.filter) + 1) % names.length]);
  }

  found() {
    this.words = this.find.value.trim();
    this.rebuild();
  }

  /** The place in the list of a task. @param {string} id */
  place_of(id) {
    return this.items.findIndex((item) => "task" in item && this.whole?.rows[item.task]?.[0] === id);
  }

  /** The task that is selected. @returns {string | null} */
  task() {
    const item = this.items[this.cursor];
    return item && "task" in item ? this.whole?.rows[item.task]?.[0] ?? null : null;
  }

  /** Selects a task, as far as it is in the list. @param {string} id */
  select(id) {
    const place = this.place_of(id);
    if (place < 0) return;
    this.cursor = place;
    this.reveal();
  }

  /** @param {number} by */
  move(by) {
    this.cursor = Math.max(0, Math.min(this.items.length - 1, this.cursor + by));
    this.reveal();
    const task = this.task();
    if (task !== null && !NARROW.matches) this.chosen(task);
  }

  reveal() {
    const height = this.height();
    const [top, seen] = [this.cursor * height, this.rows.clientHeight];
    if (top < this.rows.scrollTop) this.rows.scrollTop = top;
    else if (top + height > this.rows.scrollTop + seen) this.rows.scrollTop = top + height - seen;
    this.draw();
  }

  enter() {
    const item = this.items[this.cursor];
    if (!item) return;
    if ("phase" in item) {
      if (!this.folded.delete(item.phase)) this.folded.add(item.phase);
      this.rebuild();
    } else {
      const task = this.task();
      if (task !== null) this.chosen(task);
    }
  }

  /** @param {KeyboardEvent} event */
  keyed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.rows.clientHeight / this.height()) - 1);
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => this.move(1),
      ArrowUp: () => this.move(-1),
      PageDown: () => this.move(page),
      PageUp: () => this.move(-page),
      Home: () => this.move(-this.items.length),
      End: () => this.move(this.items.length),
      Enter: () => this.enter(),
      " ": () => this.enter(),
      ArrowLeft: () => this.fold(true),
      ArrowRight: () => this.fold(false),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** @param {boolean} is_folded */
  fold(is_folded) {
    const item = this.items[this.cursor];
    if (!item || !("phase" in item) || this.folded.has(item.phase) === is_folded) return;
    this.enter();
  }

  /** @param {MouseEvent} event */
  clicked(event) {
    const row = event.target instanceof Element ? event.target.closest("[data-place]") : null;
    if (!(row instanceof HTMLElement)) return;
    this.cursor = Number(row.dataset.place);
    this.draw();
    this.enter();
  }

  /** Puts the rows that are seen into the page. */
  draw() {
    const height = this.height();
    this.space.style.height = `${this.items.length * height}px`;
    const first = Math.max(0, Math.floor(this.rows.scrollTop / height) - 4);
    const last = Math.min(this.items.length, Math.ceil((this.rows.scrollTop + this.rows.clientHeight) / height) + 4);
    const shown = [];
    for (let place = first; place < last; place += 1) shown.push(this.row(place, height));
    put(this.space, ...shown);
    if (this.items.length === 0) {
      put(this.space, el("p.empty", { role: "treeitem" }, this.whole?.rows.length ? "No task is like that." : "No tasks yet."));
    }
    const is_seen = this.cursor >= first && this.cursor < last && this.items.length > 0;
    if (is_seen) this.rows.setAttribute("aria-activedescendant", `row-${this.cursor}`);
    else this.rows.removeAttribute("aria-activedescendant");
  }

  /** @param {number} place @param {number} height */
  row(place, height) {
    const item = this.items[place];
    const element = "phase" in item ? this.phase(item) : this.of_task(item.task);
    element.id = `row-${place}`;
    element.dataset.place = String(place);
    element.setAttribute("aria-posinset", String(place + 1));
    element.setAttribute("aria-setsize", String(this.items.length));
    element.setAttribute("aria-selected", String(place === this.cursor));
    element.style.transform = `translateY(${place * height}px)`;
    element.style.height = `${height}px`;
    return element;
  }

  /** @param {{ phase: number, done: number, all: number }} item */
  phase({ phase, done, all }) {
    const name = this.whole?.phases[String(phase)] ?? `Phase ${phase + 1}`;
    const is_open = !this.folded.has(phase);
    return el("div.row.phase", { role: "treeitem", "aria-level": 1, "aria-expanded": String(is_open) },
      el("span.mark", { "aria-hidden": "true" }, is_open ? "▾" : "▸"), el("span.title", null, name),
      el("span.more", null, `${done}/${all}`));
  }

  /** @param {number} task */
  of_task(task) {
    const row = /** @type {Row} */ (this.whole?.rows[task]);
    const [id, title, , depth, stand, attempts, , time, cost, step, since] = row;
    const [mark, word, tone] = STANDS[stand] ?? ["·", stand, "faint"];
    const doing = step && since ? `${step} ${took(this.now() - since)}` : took(time);
    const tries = attempts > 1 ? `×${attempts}` : "";
    const element = el("div.row", { role: "treeitem", "aria-level": depth + 2, title: `${id} ${title}` },
      el(`span.mark.${tone}`, { "aria-hidden": "true" }, mark),
      el("span.title", null, el("b", null, id), " ", title),
      el(`span.word.${tone}`, null, word),
      el("span.more", null, [tries, money(cost), doing].filter((part) => part !== "").join(" ")));
    element.style.paddingLeft = `${8 + 14 * Math.min(depth, 6)}px`;
    return element;
  }
}
