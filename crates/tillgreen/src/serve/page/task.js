// @ts-check
// One task: its attempts, and each of them in five tabs.

import { ask } from "./api.js";
import { el, money, put, took } from "./dom.js";
import { Text } from "./text.js";

/** @typedef {import("./types").Report} Report */

/** @type {[string, string, string][]} */
const TABS = [
  ["output", "Output", "Nothing was printed yet, or it is gone."],
  ["checks", "Checks", "Nothing happened to it yet."],
  ["prompt", "Prompt", "No agent was started for it, or its prompt is gone."],
  ["diff", "Diff", "Nothing differs."],
  ["events", "Events", "Nothing happened to it yet."],
];

/** @type {Record<string, [string, string]>} */
const VERDICTS = {
  passed: ["✓", "good"],
  failed: ["✗", "bad"],
  lost: ["!", "odd"],
  unavailable: ["!", "odd"],
  under_way: ["▶", "busy"],
  undecided: ["·", "faint"],
};

/** What a link's `#a2.output.L120` says. @param {string} hash */
function read(hash) {
  const place = /(?:^#|\.)a(\d+)/.exec(hash);
  const line = /\.L(\d+)/.exec(hash);
  const tab = TABS.find(([name]) => hash.includes(`.${name}`) || hash.startsWith(`#${name}`));
  return { place: place ? Number(place[1]) - 1 : null, tab: tab ? tab[0] : "output", line: line ? Number(line[1]) : null };
}

export class Task {
  /**
   * @param {string} run
   * @param {string} id
   * @param {() => boolean} is_busy true while somebody is at it
   */
  constructor(run, id, is_busy) {
    this.run = run;
    this.id = id;
    this.is_busy = is_busy;
    const { place, tab, line } = read(location.hash);
    this.place = place;
    this.tab = tab;
    /** @type {Report | null} */
    this.report = null;
    /** @type {Text | null} */
    this.text = null;
    this.title = el("h2", { id: "task-title" }, id);
    this.facts = el("div.facts");
    this.steps = el("div.steps", { role: "group", "aria-label": "Attempts" });
    this.tabs = el("div.tabs", { role: "tablist", "aria-label": "What is shown of it", onkeydown: (/** @type {KeyboardEvent} */ event) => this.keyed(event) });
    this.panel = el("div.panel", { role: "tabpanel", id: "panel" });
    this.element = el("section.task", { "aria-labelledby": "task-title" }, this.title, this.facts, this.steps, this.tabs, this.panel);
    this.open(line);
  }

  /** @param {number | null} line */
  async open(line) {
    await this.refresh();
    this.show_tabs();
    this.show(line);
  }

  /** Reads what is known of it, as after each event about it. */
  async refresh() {
    try {
      this.report = await ask("/api/task", { run: this.run, task: this.id });
    } catch {
      put(this.facts, el("p.bad", null, `Task ${this.id} is neither in the plan nor in the run any more.`));
      return;
    }
    this.show_facts();
  }

  show_facts() {
    const report = this.report;
    if (!report) return;
    put(this.title, el("b", null, report.task), " ", report.title);
    const fixes = (report.fix_of ?? []).map((fix) => el("p", null, `fixes ${fix.task}: ${fix.error}`));
    const fields = report.fields.map((field) => [el("dt", null, field.name), el("dd", null, field.text)]).flat();
    const is_open = this.facts.querySelector("details")?.open;
    put(this.facts, ...fixes,
      fields.length > 0 && el("details", { open: is_open }, el("summary", null, "What the plan says"), el("dl", null, ...fields)));
    const latest = report.attempts.length - 1;
    put(this.steps, ...report.attempts.map((attempt, place) => {
      const [mark, tone] = VERDICTS[attempt.verdict] ?? ["·", "faint"];
      const name = attempt.attempt === null ? "command" : `attempt ${attempt.attempt}`;
      const facts = [attempt.agent ?? "", took(attempt.worked_ms), money(attempt.usage?.cost_micros)];
      const is_shown = place === (this.place ?? latest);
      const choose = () => {
        this.place = place;
        this.go();
      };
      return el(`button.step.${tone}`, { type: "button", "aria-pressed": String(is_shown), onclick: choose },
        `${mark} ${name}`, el("small", null, facts.filter((fact) => fact !== "").join(" · ")));
    }));
  }

  show_tabs() {
    put(this.tabs, ...TABS.map(([name, label], place) => {
      const is_shown = name === this.tab;
      const choose = () => this.choose(place);
      return el("button.tab", {
        type: "button", role: "tab", id: `tab-${name}`, "aria-selected": String(is_shown), "aria-controls": "panel",
        tabindex: is_shown ? 0 : -1, onclick: choose,
      }, label);
    }));
    this.panel.setAttribute("aria-labelledby", `tab-${this.tab}`);
  }

  /** Shows a tab. @param {number} place */
  choose(place) {
    const tab = TABS[place];
    if (!tab) return;
    this.tab = tab[0];
    this.go();
  }

  /** Shows what was chosen, and has the address say so. */
  go() {
    history.replaceState(null, "", this.link());
    this.show_facts();
    this.show_tabs();
    this.show(null);
  }

  /** Shows what the address says. */
  hash() {
    const { place, tab, line } = read(location.hash);
    [this.place, this.tab] = [place, tab];
    this.show_facts();
    this.show_tabs();
    this.show(line);
  }

  link() {
    return this.place === null ? `#${this.tab}` : `#a${this.place + 1}.${this.tab}`;
  }

  /** @param {KeyboardEvent} event */
  keyed(event) {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    const place = TABS.findIndex(([name]) => name === this.tab);
    this.choose((place + by + TABS.length) % TABS.length);
    const shown = this.tabs.querySelector('[aria-selected="true"]');
    if (shown instanceof HTMLElement) shown.focus();
  }

  /** @param {number | null} line */
  show(line) {
    this.text?.close();
    const [name, , empty] = TABS.find(([tab]) => tab === this.tab) ?? TABS[0];
    const latest = (this.report?.attempts.length ?? 0) - 1;
    const is_latest = this.place === null || this.place === latest;
    const follows = name === "output" && is_latest && this.is_busy();
    const query = { run: this.run, task: this.id, part: name, attempt: this.place };
    this.text = new Text(query, this.link(), { follows, empty });
    put(this.panel, this.text.element);
    this.text.open(line);
  }

  /** Takes in that something happened to it. */
  async changed() {
    const before = JSON.stringify(this.report);
    await this.refresh();
    const is_reading = this.text !== null && this.text.box.scrollTop > 0 && this.tab !== "output";
    if (JSON.stringify(this.report) !== before && !is_reading) this.show(null);
  }

  close() {
    this.text?.close();
  }
}
