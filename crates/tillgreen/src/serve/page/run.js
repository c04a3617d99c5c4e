// @ts-check
// A run: its head, its tasks, and one of them beside; the timeline; the costs.

import { Live } from "./api.js";
import { Costs } from "./costs.js";
import { STATES, announce, clock, confirmed, count, el, money, progress, put, took } from "./dom.js";
import { Cards } from "./question.js";
import { Steering } from "./steer.js";
import { Task } from "./task.js";
import { Timeline } from "./timeline.js";
import { Tree, is_busy, is_settled } from "./tree.js";

/** @typedef {import("./types").Head} Head */

const RUNNING_MAX = 8;

/** @param {HTMLElement} main @param {string} id @param {string[]} rest @param {(path: string) => void} go */
export function run(main, id, rest, go) {
  return new Run(main, id, rest, go);
}

class Run {
  /** @param {HTMLElement} main @param {string} id @param {string[]} rest @param {(path: string) => void} go */
  constructor(main, id, rest, go) {
    this.id = id;
    this.go = go;
    this.base = `/r/${encodeURIComponent(id)}`;
    this.head = el("div.head");
    this.state = el("p.standing");
    this.cards = new Cards();
    this.steering = new Steering(id);
    this.running = el("ul.running", { "aria-label": "Under way" });
    this.body = el("div.body");
    this.tree = new Tree((task) => this.open(task));
    this.tree.now = () => this.live.now();
    this.timeline = new Timeline(() => this.live.now(), (task) => go(`${this.base}/t/${encodeURIComponent(task)}`));
    this.costs = new Costs(id);
    /** @type {Task | null} */
    this.task = null;
    this.view = "";
    this.follows = true;
    /** @type {Map<string, string>} the state of each task that was last told */
    this.told = new Map();
    this.live = new Live(id, (changed) => this.changed(changed));
    put(main, this.head, this.state, this.cards.element, this.steering.element, this.running, this.body);
    this.place(rest);
    this.live.open().catch((error) => put(this.body, el("p.empty", null, error.message)));
    this.clock = setInterval(() => this.tick(), 1000);
  }

  /** Shows what the address says. @param {string[]} rest */
  place(rest) {
    const [view, task] = rest;
    const wanted = view === "t" ? "tasks" : view || "tasks";
    if (wanted !== this.view) {
      this.view = wanted;
      this.task?.close();
      this.task = null;
      if (wanted === "timeline") put(this.body, this.timeline.element);
      else if (wanted === "costs") put(this.body, this.costs.element);
      else put(this.body, this.tree.element, el("div.detail"));
      if (this.live.whole) this.show_view();
    }
    this.body.classList.toggle("deep", view === "t");
    this.follows = view !== "t";
    if (view === "t" && task !== undefined) this.show_task(task);
    else this.choose();
    this.show_head();
  }

  /** @param {string} task */
  open(task) {
    this.go(`${this.base}/t/${encodeURIComponent(task)}`);
  }

  /** @param {string} id */
  show_task(id) {
    const detail = this.body.querySelector(".detail");
    if (!detail) return;
    this.tree.select(id);
    if (this.task?.id === id) return;
    this.task?.close();
    this.task = new Task(this.id, id, () => this.is_busy(id));
    const back = el("a.back", { href: this.base }, "‹ all tasks");
    put(detail, back, this.task.element);
  }

  /** @param {string} id */
  is_busy(id) {
    const row = this.live.whole?.rows.find((row) => row[0] === id);
    return row !== undefined && is_busy(row);
  }

  /** @param {Set<number> | null} changed */
  changed(changed) {
    const whole = this.live.whole;
    if (!whole) return;
    this.tell(changed);
    this.show_head();
    this.cards.show(this.id, whole.head.plan, whole.head.question, whole.head.answered);
    this.show_running();
    this.show_view();
    const task = this.task;
    if (task && (changed === null || [...changed].some((place) => whole.rows[place]?.[0] === task.id))) task.changed();
    if (this.follows) this.choose();
    else if (changed === null && this.task) this.tree.select(this.task.id);
  }

  /** Until somebody chooses a task, what is asked about, what is under way or what comes next is shown beside the tree. */
  choose() {
    const whole = this.live.whole;
    if (!whole || this.view !== "tasks" || matchMedia("(max-width: 719px)").matches) return;
    const { rows, head } = whole;
    const first = head.question?.task ?? (rows.find(is_busy) ?? rows.find((row) => !is_settled(row)))?.[0] ?? this.task?.id ?? rows[0]?.[0];
    if (first !== undefined && first !== this.task?.id) this.show_task(first);
  }

  /** Says what was done and what failed; nothing else is worth an interruption. @param {Set<number> | null} changed */
  tell(changed) {
    const rows = this.live.whole?.rows ?? [];
    if (changed === null) {
      this.told = new Map(rows.map((row) => [row[0], row[4]]));
      return;
    }
    const words = [];
    for (const place of changed) {
      const row = rows[place];
      if (!row) continue;
      const before = this.told.get(row[0]);
      if (row[4] !== before && ["done", "failed", "skipped"].includes(row[4])) words.push(`${row[0]} ${row[4]}`);
      this.told.set(row[0], row[4]);
    }
    if (words.length > 0) announce(words.join(", "));
  }

  show_view() {
    const whole = this.live.whole;
    if (!whole) return;
    if (this.view === "timeline") this.timeline.show(whole);
    else if (this.view === "costs") this.costs.show(whole);
    else this.tree.show(whole);
  }

  show_head() {
    const head = this.live.whole?.head;
    if (!head) return;
    document.title = `${head.done}/${head.total} ${head.plan} · tillgreen`;
    const link = (/** @type {string} */ name, /** @type {string} */ path, /** @type {string} */ view) =>
      el("a", { href: `${this.base}${path}`, "aria-current": view === this.view ? "page" : null }, name);
    // What has the focus keeps it.
    const focused = this.head.contains(document.activeElement) ? document.activeElement?.textContent : null;
    put(this.head,
      el("h1", null, head.plan, head.branch && el("small", null, ` on ${head.branch}`)),
      progress(head.done, head.total),
      el("span.figures", null, this.figures(head)),
      el("nav", { "aria-label": "This run" }, link("Tasks", "", "tasks"), link("Timeline", "/timeline", "timeline"), link("Costs", "/costs", "costs")),
      !head.archived && head.state !== "complete" && el("span.buttons", null,
        el("button", { type: "button", onclick: () => this.steering.tell(this.open_task()) }, "Tell"),
        head.state === "running" && el("button", { type: "button", onclick: () => this.steering.pause() }, "Pause"),
        el("button", { type: "button", onclick: () => this.skip() }, "Skip")));
    if (focused) {
      for (const control of this.head.querySelectorAll("a, button")) {
        if (control.textContent === focused) /** @type {HTMLElement} */ (control).focus();
      }
    }
    put(this.state, ...this.standing(head));
  }

  /** @param {Head} head */
  figures(head) {
    const since = head.state === "running" && head.latest !== null ? this.live.now() - head.latest : 0;
    const cost = money(head.cost) + (head.cost_max !== null ? ` of ${money(head.cost_max)}` : "");
    return [
      `${head.done}/${head.total}`,
      head.skipped > 0 && `${head.skipped} skipped`,
      head.fixes > 0 && count(head.fixes, "fix task"),
      head.failed > 0 && `${head.failed} of ${count(head.attempts, "attempt")} failed`,
      cost,
      took(head.elapsed + since),
      head.left !== null && `about ${took(head.left)} left`,
    ].filter((part) => part).join(" · ");
  }

  /** @param {Head} head */
  standing(head) {
    const [word, tone] = head.archived ? ["put aside by a fresh start", "faint"] : STATES[head.state] ?? [head.state, "faint"];
    const state = el(`b.state.${tone}`, null, head.state === "running" && head.question ? "waiting for an answer" : head.pausing && head.state === "running" ? "pausing" : word);
    if (head.trouble) return [state, " ", el("span.bad", null, head.trouble)];
    if (head.archived) return [state];
    const again = el("code", null, head.again);
    if (head.state === "crashed") return [state, ` at ${clock(head.latest)}; nothing is lost: `, again, " goes on"];
    if (head.state === "not_started") return [state, ": ", again, " starts it, and this page will notice"];
    if (["running", "complete"].includes(head.state)) return [state, head.reason ? `: ${head.reason}` : ""];
    return [state, head.reason ? `: ${head.reason}; ` : "; ", again, " goes on"];
  }

  show_running() {
    const whole = this.live.whole;
    if (!whole) return;
    const busy = whole.head.state === "running" ? whole.rows.filter(is_busy) : [];
    const shown = busy.slice(0, RUNNING_MAX).map((row) => el("li", null,
      el("a", { href: `${this.base}/t/${encodeURIComponent(row[0])}` },
        el("span.busy", { "aria-hidden": "true" }, "▶ "), el("b", null, row[0]), ` ${row[1]}`),
      el("span.faint", null, ` ${row[9] ?? ""} ${row[10] ? took(this.live.now() - row[10]) : ""}`)));
    put(this.running, ...shown, busy.length > RUNNING_MAX && el("li", null, `and ${busy.length - RUNNING_MAX} more`));
    this.running.hidden = busy.length === 0;
  }

  /** The clocks move on. */
  tick() {
    const head = this.live.whole?.head;
    if (!head || head.state !== "running") return;
    const figures = this.head.querySelector(".figures");
    if (figures) put(figures, this.figures(head));
    this.show_running();
    if (this.view === "timeline") this.timeline.draw();
    else if (this.view === "tasks") this.tree.draw();
  }

  /** The task that is shown or selected, if something can still be said to it. @returns {string | null} */
  open_task() {
    const id = this.task?.id ?? this.tree.task();
    const row = this.live.whole?.rows.find((row) => row[0] === id);
    return row && !is_settled(row) ? row[0] : null;
  }

  skip() {
    const task = this.open_task();
    if (task) this.steering.skip(task);
    else put(this.steering.said, "Select a task that is not done to skip it.");
  }

  /** @param {string} key */
  key(key) {
    /** @type {Record<string, () => unknown>} */
    const keys = {
      j: () => this.tree.move(1),
      k: () => this.tree.move(-1),
      h: () => this.tree.fold(true),
      l: () => this.tree.fold(false),
      f: () => this.tree.next_filter(),
      "/": () => (this.task?.text?.find ?? this.tree.find).focus(),
      n: () => this.task?.text?.next(1),
      N: () => this.task?.text?.next(-1),
      T: () => this.go(`${this.base}/timeline`),
      C: () => this.go(`${this.base}/costs`),
      Escape: () => this.go(this.base),
      a: () => this.cards.focus() || put(this.steering.said, "No question is open."),
      t: () => this.steering.tell(this.open_task()),
      p: () => this.steering.pause(),
      x: () => this.skip(),
      "+": () => this.timeline.nearer(2),
      "-": () => this.timeline.nearer(0.5),
      "?": () => confirmed("j k: move · h l: fold · Enter: open · 1–5: tabs · f: which tasks · / n N: find · T: timeline · C: costs · a: answer · t: tell · p: pause · x: skip · Esc: back", "Good"),
    };
    if (/^[1-5]$/.test(key)) {
      this.task?.choose(Number(key) - 1);
      return true;
    }
    keys[key]?.();
    return key in keys;
  }

  hash() {
    this.task?.hash();
  }

  close() {
    this.live.close();
    this.task?.close();
    clearInterval(this.clock);
  }
}
