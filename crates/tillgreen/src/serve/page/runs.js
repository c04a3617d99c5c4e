// @ts-check
// The list of all runs here.

import { ask, connection } from "./api.js";
import { STATES, clock, count, el, money, progress, put, took } from "./dom.js";
import { Cards } from "./question.js";

/** @typedef {import("./types").Listed} Listed */

const LOOK_EVERY = 2000;

/** @param {HTMLElement} main @returns {import("./types").View} */
export function runs(main) {
  const cards = new Cards();
  const list = el("div");
  const folder = el("p.faint");
  put(main, el("h1", null, "Runs"), folder, cards.element, list);
  document.title = "Runs · tillgreen";
  let is_closed = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let shown = "";
  const look = async () => {
    try {
      const answer = await ask("/api/runs");
      if (is_closed) return;
      connection();
      put(folder, answer.folder);
      for (const run of answer.runs) cards.show(run.run, run.plan, run.question);
      const text = JSON.stringify(answer.runs);
      // What somebody reads, or has the focus in, stays as it is while nothing changes.
      if (text !== shown) put(list, listed(answer.runs));
      shown = text;
    } catch (error) {
      connection(error);
    }
    if (!is_closed) timer = setTimeout(look, LOOK_EVERY);
  };
  look();
  return {
    close: () => {
      is_closed = true;
      clearTimeout(timer);
    },
    key: (key) => key === "a" && cards.focus(),
  };
}

/** @param {Listed[]} runs */
function listed(runs) {
  if (runs.length === 0) return empty();
  return el("ul.runs", { "aria-label": "Runs" }, ...runs.map(row));
}

function empty() {
  const command = "tillgreen run";
  const copied = el("span", { role: "status" });
  const copy = async () => {
    await navigator.clipboard?.writeText(command);
    put(copied, " copied");
  };
  return el("p.empty", null, "No plans yet. ", el("code", null, "tillgreen new NAME"), " makes one, and ",
    el("code", null, command), " runs it. ", el("button", { type: "button", onclick: copy }, "Copy"), copied);
}

/** @param {Listed} run */
function row(run) {
  const [word, tone] = run.archived ? ["put aside", "faint"] : STATES[run.state] ?? [run.state, "faint"];
  const figures = [
    run.failed ? `${run.failed} failed` : "",
    run.skipped ? `${run.skipped} skipped` : "",
    money(run.cost),
    run.began ? `begun ${clock(run.began)}` : "",
    run.elapsed ? `took ${took(run.elapsed)}` : "",
  ].filter((figure) => figure !== "");
  return el("li", null,
    el("a.run", { href: `/r/${encodeURIComponent(run.run)}` },
      el("span.name", null, run.plan),
      el(`span.state.${tone}`, null, word),
      progress(run.done, run.total),
      el("span.figures", null, [`${run.done}/${count(run.total, "task")}`, ...figures].join(" · ")),
      run.trouble && el("span.bad", null, run.trouble),
      run.reason && el("span.faint", null, run.reason)));
}
