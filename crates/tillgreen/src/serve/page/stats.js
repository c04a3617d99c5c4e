// @ts-check
// What all runs here tell together.

import { ask, connection } from "./api.js";
import { bars } from "./costs.js";
import { clock, el, money, put, svg, table } from "./dom.js";

/** @typedef {import("./types").Trend} Trend */

const TYPES = ["verification failed", "execution error", "timeout", "rejected"];

/** @param {HTMLElement} main @returns {import("./types").View} */
export function stats(main) {
  document.title = "Statistics · tillgreen";
  const inside = el("div", null, el("p.empty", null, "Reading all runs …"));
  put(main, el("h1", null, "Statistics over all runs"), inside);
  let is_closed = false;
  ask("/api/statistics").then((/** @type {Trend} */ trend) => {
    connection();
    if (!is_closed) put(inside, ...shown(trend));
  }).catch((error) => {
    if (!is_closed) put(inside, el("p.empty", null, error.message));
  });
  return { close: () => { is_closed = true; } };
}

/** @param {Trend} trend */
function shown(trend) {
  const share = (/** @type {number} */ part, /** @type {number} */ all) => (all > 0 ? `${Math.round((100 * part) / all)}%` : "");
  return [
    el("h2", null, "Right at once"), yields(trend),
    el("h2", null, "Per verified task"),
    trend.agents.length > 0
      ? table("Agents and models", ["Agent", "Model", "Verified", "Right at once", "Attempts each", "Cost each"], trend.agents.map((worth) => [
        worth.agent, worth.model ?? "its own choice", worth.verified, `${worth.first} of ${worth.begun} (${share(worth.first, worth.begun)})`,
        worth.verified > 0 ? (worth.attempts / worth.verified).toFixed(1) : "–",
        worth.verified > 0 && worth.cost_micros !== undefined ? money(worth.cost_micros / worth.verified) : "unknown",
      ]))
      : el("p.empty", null, "No agent has worked yet."),
    el("h2", null, "Failures by day"), failures(trend),
    el("h2", null, "What they have in common"),
    trend.patterns.length > 0 ? bars("Patterns of failures", trend.patterns) : el("p.empty", null, "Nothing failed."),
  ];
}

/** @param {Trend} trend */
function yields({ runs }) {
  if (runs.length === 0) return el("p.empty", null, "No run has done anything yet.");
  return el("ul.bars", { "aria-label": "First-pass yield of each run" }, ...runs.map((run) => {
    const bar = el("span.bar.good");
    bar.style.width = `${Math.max(0.5, run.percent * 0.6)}%`;
    const name = `${run.plan} ${run.began ? clock(run.began) : ""}`;
    return el("li", null, el("span.name", { title: name }, name), el("span.room", null, bar, el("b", null, `${run.percent}%`),
      el("small", null, ` ${run.first} of ${run.tasks} tasks, ${run.failed} of ${run.attempts} attempts failed ${money(run.cost_micros)}`)));
  }));
}

/** @param {Trend} trend */
function failures({ days }) {
  if (days.length === 0) return el("p.empty", null, "Nothing failed.");
  const [width, height, step] = [720, 160, 720 / Math.max(days.length, 8)];
  const most = Math.max(...days.map((day) => day.failures.reduce((sum, number) => sum + number, 0)), 1);
  const boxes = days.flatMap((day, place) => {
    let top = height;
    return day.failures.map((number, type) => {
      const tall = (number / most) * (height - 10);
      top -= tall;
      return svg(`rect.type-${type}`, { x: place * step + 1, y: top, width: Math.max(1, step - 3), height: tall },
        svg("title", {}, `${day.day}: ${number} ${TYPES[type]}, of ${day.attempts} attempts`));
    });
  });
  return el("figure", null,
    svg("svg.plot", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Failures from ${days[0].day} to ${days[days.length - 1].day}` }, ...boxes),
    el("figcaption", null, ...TYPES.map((name, type) => el("span", null, el(`i.type-${type}`), ` ${name} `)), `${days[0].day} to ${days[days.length - 1].day}`),
    el("details", null, el("summary", null, "As a table"),
      table("Failures by day", ["Day", "Attempts", ...TYPES], days.map((day) => [day.day, day.attempts, ...day.failures]))));
}
