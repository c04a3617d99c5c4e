// @ts-check
// What was worked on when: a row for each that worked at once, time to the right. Only what is seen is drawn.

import { clock, el, put, svg, took } from "./dom.js";

/** @typedef {import("./types").Whole} Whole */
/** @typedef {import("./types").Bar} Bar */

const LANE = 26;
const TOP = 22;
/** @type {Record<string, string>} */
const OUTCOMES = { o: "open", p: "passed", f: "failed", l: "lost" };

export class Timeline {
  /** @param {() => number} now @param {(task: string) => void} chosen */
  constructor(now, chosen) {
    this.now = now;
    this.chosen = chosen;
    this.zoom = 1;
    /** @type {Whole | null} */
    this.whole = null;
    this.space = el("div.space");
    this.box = el("div.chart", { tabindex: 0, role: "region", "aria-label": "Timeline", onscroll: () => this.draw() }, this.space);
    const nearer = (/** @type {number} */ by) => el("button", {
      type: "button", "aria-label": by > 1 ? "Nearer" : "Wider", onclick: () => this.nearer(by),
    }, by > 1 ? "+" : "−");
    this.element = el("div.timeline", null,
      el("div.buttons", null, nearer(2), nearer(0.5),
        el("span.legend", null, el("i.passed"), " passed ✓ ", el("i.failed"), " failed ✗ ", el("i.lost"), " lost ! ", el("i.open"), " under way; paler: checks, then coming in")),
      this.box);
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  /** @param {Whole} whole */
  show(whole) {
    this.whole = whole;
    this.draw();
  }

  /** @param {number} by */
  nearer(by) {
    const middle = (this.box.scrollLeft + this.box.clientWidth / 2) / (this.box.clientWidth * this.zoom);
    this.zoom = Math.max(1, Math.min(4096, this.zoom * by));
    this.draw();
    this.box.scrollLeft = middle * this.box.clientWidth * this.zoom - this.box.clientWidth / 2;
    this.draw();
  }

  draw() {
    const whole = this.whole;
    if (!whole || whole.bars.length === 0) {
      put(this.space, el("p.empty", null, "Nothing was worked on yet."));
      return;
    }
    const is_live = whole.head.state === "running";
    const until = is_live ? this.now() : whole.head.latest ?? this.now();
    const from = whole.bars[0][2];
    const width = Math.max(200, (this.box.clientWidth - 2) * this.zoom);
    const scale = width / Math.max(1000, until - from);
    const place = (/** @type {number} */ at) => (at - from) * scale;
    const lanes = arranged(whole.bars, until);
    const height = TOP + (Math.max(...lanes, 0) + 1) * LANE;
    this.space.style.width = `${width}px`;
    this.space.style.height = `${height}px`;
    const [left, right] = [this.box.scrollLeft, this.box.scrollLeft + this.box.clientWidth];
    const [low, high] = [this.box.scrollTop - LANE, this.box.scrollTop + Math.max(this.box.clientHeight, height > 600 ? 600 : height)];
    const shown = [];
    for (let at = Math.floor(left / 120) * 120; at < right; at += 120) {
      shown.push(svg("text.tick", { x: at - left + 2, y: 14 }, took(at / scale)));
      shown.push(svg("line.grid", { x1: at - left, x2: at - left, y1: TOP, y2: height }));
    }
    whole.bars.forEach((bar, number) => {
      const y = TOP + lanes[number] * LANE;
      const end = bar[5] ?? until;
      const [x1, x2] = [place(bar[2]), place(end)];
      if (x2 < left || x1 > right || y < low || y > high) return;
      shown.push(this.bar(bar, { x1: x1 - left, x2: x2 - left, y, end }, place, left));
    });
    const picture = svg("svg", {
      width: this.box.clientWidth, height, role: "img",
      "aria-label": `${whole.bars.length} stretches of work from ${clock(from)} to ${clock(until)}`,
    }, ...shown);
    picture.style.transform = `translateX(${left}px)`;
    put(this.space, picture);
  }

  /**
   * @param {Bar} bar
   * @param {{ x1: number, x2: number, y: number, end: number }} at
   * @param {(at: number) => number} place
   * @param {number} left
   */
  bar(bar, { x1, x2, y, end }, place, left) {
    const [task, attempt, began, claimed, landing, , outcome] = bar;
    const row = this.whole?.rows[task];
    const name = `${row?.[0] ?? "?"}${attempt > 0 ? `·${attempt}` : ""}`;
    const words = OUTCOMES[outcome] ?? outcome;
    const told = `${row?.[0] ?? "a task that is gone"} ${row?.[1] ?? ""}: ${attempt > 0 ? `attempt ${attempt}` : "command"}, ${words}, ${clock(began)}, ${took(end - began)}`;
    const width = Math.max(2, x2 - x1 - 1);
    const parts = [svg("rect", { x: x1, y: y + 3, width, height: LANE - 8, rx: 3, class: `bar ${words}` }, svg("title", {}, told))];
    const steps = /** @type {[number, string][]} */ ([[claimed, "checks"], [landing, "landing"]]);
    for (const [since, kind] of steps) {
      if (since === 0) continue;
      const x = Math.max(x1, place(since) - left);
      parts.push(svg(`rect.${kind}`, { x, y: y + 3, width: Math.max(0, x1 + width - x), height: LANE - 8 }, svg("title", {}, told)));
    }
    if (width > name.length * 8) parts.push(svg("text.name", { x: Math.max(x1, 0) + 5, y: y + 16 }, name));
    const choose = () => row && this.chosen(row[0]);
    return svg("g.pick", { onclick: choose }, ...parts);
  }
}

/** The lanes of bars, as few as they need. @param {Bar[]} bars @param {number} until @returns {number[]} */
function arranged(bars, until) {
  /** @type {number[]} */
  const free = [];
  return bars.map((bar) => {
    let lane = free.findIndex((at) => at <= bar[2]);
    if (lane < 0) lane = free.length;
    free[lane] = bar[5] ?? until;
    return lane;
  });
}
