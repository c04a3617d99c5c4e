// @ts-check
// What was spent: as it came together, by agent; how often tasks were tried, and what failed.

import { ask } from "./api.js";
import { clock, el, money, put, svg, table, took } from "./dom.js";

/** @typedef {import("./types").Whole} Whole */
/** @typedef {import("./types").Costs} Given */

export class Costs {
  /** @param {string} run */
  constructor(run) {
    this.run = run;
    this.element = el("div.costs");
    this.seq = -1;
  }

  /** @param {Whole} whole */
  async show(whole) {
    if (whole.head.seq === this.seq) return;
    this.seq = whole.head.seq;
    /** @type {Given} */
    const costs = await ask("/api/costs", { run: this.run });
    put(this.element,
      el("h2", null, "Spent"), spent(costs),
      el("h2", null, "Agents"), agents(costs),
      el("h2", null, "Attempts"), bars("attempts", tries(whole)),
      el("h2", null, "What failed"),
      costs.patterns.length > 0 ? bars("times", costs.patterns) : el("p.empty", null, "Nothing failed."),
      el("h2", null, "Most expensive tasks"), dearest(whole));
  }
}

/** @param {Given} costs */
function spent({ points }) {
  const all = points.at(-1)?.[2] ?? 0;
  if (all === 0) return el("p.empty", null, "Nobody has told what anything costs.");
  const [width, height] = [720, 160];
  const [from, until] = [points[0][0], points[points.length - 1][0]];
  const x = (/** @type {number} */ at) => ((at - from) / Math.max(1, until - from)) * width;
  const y = (/** @type {number} */ cost) => height - (cost / all) * (height - 10);
  // Of many points those that can be told apart.
  const step = Math.max(1, Math.floor(points.length / width));
  const line = points.filter((_, place) => place % step === 0 || place === points.length - 1);
  const path = line.map(([at, , cost], place) => `${place === 0 ? "M" : "L"}${x(at).toFixed(1)} ${y(cost).toFixed(1)}`);
  return el("figure", null,
    svg("svg.plot", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${money(all)} spent from ${clock(from)} to ${clock(until)}` },
      svg("path.area", { d: `${path.join(" ")} L${width} ${height} L0 ${height}Z` }), svg("path.curve", { d: path.join(" ") })),
    el("figcaption", null, `${money(all)} from ${clock(from)} to ${clock(until)}`));
}

/** @param {Given} costs */
function agents({ agents: rows }) {
  if (rows.length === 0) return el("p.empty", null, "No agent has worked yet.");
  return table("Agents", ["Agent", "Passed", "Failed", "Lost", "Worked", "Tokens", "Cost"], rows.map((agent) => [
    agent.agent, agent.passed, agent.failed, agent.lost, took(agent.worked),
    agent.tokens === null ? "unknown" : agent.tokens.toLocaleString("en"), agent.cost === null ? "unknown" : money(agent.cost),
  ]));
}

/** How many tasks took how many attempts. @param {Whole} whole @returns {[string, number][]} */
function tries(whole) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const row of whole.rows) {
    if (row[5] > 0) counts.set(row[5], (counts.get(row[5]) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([one], [other]) => one - other);
  return sorted.map(([attempts, tasks]) => [attempts === 1 ? "1 attempt" : `${attempts} attempts`, tasks]);
}

/**
 * Numbers as bars, with the numbers beside them.
 * @param {string} label
 * @param {[string, number][]} rows
 */
export function bars(label, rows) {
  if (rows.length === 0) return el("p.empty", null, "Nothing yet.");
  const most = Math.max(...rows.map(([, number]) => number), 1);
  return el("ul.bars", { "aria-label": label }, ...rows.map(([name, number]) => {
    const bar = el("span.bar");
    bar.style.width = `${Math.max(0.5, (number / most) * 60)}%`;
    return el("li", null, el("span.name", { title: name }, name), el("span.room", null, bar, el("b", null, number)));
  }));
}

/** @param {Whole} whole */
function dearest(whole) {
  const known = whole.rows.filter((row) => (row[8] ?? 0) > 0).sort((one, other) => (other[8] ?? 0) - (one[8] ?? 0)).slice(0, 10);
  if (known.length === 0) return el("p.empty", null, "Nobody has told what anything costs.");
  return table("Most expensive tasks", ["Task", "Attempts", "Time", "Cost"],
    known.map((row) => [`${row[0]} ${row[1]}`, row[5], took(row[7]), money(row[8])]));
}
