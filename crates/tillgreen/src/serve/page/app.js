// @ts-check
// Which view the address asks for, keys, and dark or light.

import { byId } from "./dom.js";
import { run } from "./run.js";
import { runs } from "./runs.js";
import { stats } from "./stats.js";

/** @typedef {import("./types").View} View */

const main = byId("main");
/** @type {View | null} */
let view = null;
/** The part of the address that the view stays the same for. */
let shown = "";

function route() {
  const parts = location.pathname.split("/").slice(1).map(decodeURIComponent);
  const is_run = parts[0] === "r" && parts[1] !== undefined;
  const place = is_run ? `r/${parts[1]}` : parts[0];
  if (place === shown && view && "place" in view) {
    /** @type {any} */ (view).place(parts.slice(2));
    return;
  }
  view?.close();
  shown = place;
  if (is_run) view = run(main, parts[1], parts.slice(2), go);
  else if (parts[0] === "statistics") view = stats(main);
  else view = runs(main);
}

/** Shows another view. @param {string} path */
function go(path) {
  if (path === location.pathname) return;
  history.pushState(null, "", path);
  route();
}

addEventListener("popstate", route);
addEventListener("hashchange", () => view?.hash?.());

document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const href = link.getAttribute("href") ?? "";
  if (!href.startsWith("/")) return;
  event.preventDefault();
  go(href);
});

document.addEventListener("keydown", (event) => {
  const at = event.target;
  const is_typing = at instanceof HTMLInputElement || document.querySelector("dialog[open]") !== null;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (is_typing) {
    if (event.key === "Escape" && at instanceof HTMLElement) at.blur();
    return;
  }
  if (view?.key?.(event.key)) event.preventDefault();
});

const theme = byId("theme");
const THEMES = ["auto", "light", "dark"];

/** @param {string} name */
function dress(name) {
  document.documentElement.dataset.theme = name;
  theme.textContent = { auto: "◐", light: "☀", dark: "☾" }[name] ?? "◐";
  theme.setAttribute("aria-label", `Colours: ${name}`);
}

theme.addEventListener("click", () => {
  const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme ?? "auto") + 1) % THEMES.length];
  localStorage.setItem("theme", next);
  dress(next);
});

dress(localStorage.getItem("theme") ?? "auto");
route();
