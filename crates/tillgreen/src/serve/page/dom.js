// @ts-check
// Elements. Text of others is only ever text: nothing here makes markup of it.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * An element: `el("button.small", { onclick }, "Retry")`.
 * @param {string} spec the tag and its classes
 * @param {Record<string, unknown> | null} [attributes] what begins with `on` is a listener
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function el(spec, attributes, ...children) {
  const [tag, ...classes] = spec.split(".");
  const element = document.createElement(tag);
  dress(element, classes, attributes ?? {});
  put(element, ...children);
  return element;
}

/**
 * An element of a picture.
 * @param {string} spec
 * @param {Record<string, unknown>} attributes
 * @param {...Child} children
 * @returns {SVGElement}
 */
export function svg(spec, attributes, ...children) {
  const [tag, ...classes] = spec.split(".");
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  dress(element, classes, attributes);
  put(element, ...children);
  return element;
}

/**
 * @param {Element} element
 * @param {string[]} classes
 * @param {Record<string, unknown>} attributes
 */
function dress(element, classes, attributes) {
  if (classes.length > 0) element.setAttribute("class", classes.join(" "));
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

/**
 * Puts children into an element, in the place of those that are there.
 * @param {Element} element
 * @param {...Child} children
 */
export function put(element, ...children) {
  const kept = children.filter((child) => child !== null && child !== undefined && child !== false);
  element.replaceChildren(...kept.map((child) => (child instanceof Node ? child : String(child))));
}

/**
 * The element of that id, which the page has.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no #${id}`);
  return element;
}

/**
 * A table.
 * @param {string} label
 * @param {string[]} heads
 * @param {Child[][]} rows
 */
export function table(label, heads, rows) {
  return el(
    "div.wide", { tabindex: 0, role: "region", "aria-label": label },
    el("table", null,
      el("thead", null, el("tr", null, ...heads.map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", null, ...rows.map((row) => el("tr", null, ...row.map((cell) => el("td", null, cell)))))),
  );
}

/** Says something to those who cannot see it. @param {string} text */
export function announce(text) {
  byId("live").textContent = text;
}

/**
 * Asks once more before something is done.
 * @param {string} question
 * @param {string} yes
 * @returns {Promise<boolean>}
 */
export function confirmed(question, yes) {
  return new Promise((resolve) => {
    const dialog = /** @type {HTMLDialogElement} */ (
      el("dialog", { "aria-label": question },
        el("p", null, question),
        el("form.buttons", { method: "dialog" },
          el("button.danger", { value: "yes" }, yes),
          el("button", { value: "no" }, "Leave it")))
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** How long something took. @param {number | null | undefined} ms */
export function took(ms) {
  if (ms === null || ms === undefined) return "";
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)}s`;
  if (seconds < 60) return `${Math.floor(seconds)}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${Math.floor(seconds % 60)}s`;
  return `${Math.floor(seconds / 3600)}h ${Math.floor((seconds % 3600) / 60)}m`;
}

/** A moment of today, or a day. @param {number | string | null | undefined} at */
export function clock(at) {
  if (at === null || at === undefined) return "";
  const date = new Date(at);
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return date.toDateString() === new Date().toDateString() ? time : `${day} ${time}`;
}

/** A price. @param {number | null | undefined} micros */
export function money(micros) {
  return micros === null || micros === undefined ? "" : `$${(micros / 1e6).toFixed(2)}`;
}

/** A number with its noun. @param {number} number @param {string} noun */
export function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** What stands for a task's state: its mark, its word, its tone. @type {Record<string, [string, string, string]>} */
export const STANDS = {
  open: ["·", "", "faint"],
  again: ["·", "again", "odd"],
  works: ["▶", "works", "busy"],
  verify: ["◔", "verify", "busy"],
  judged: ["◔", "judged", "busy"],
  ready: ["◔", "ready", "busy"],
  held_up: ["?", "held up", "odd"],
  joins: ["◔", "joins", "busy"],
  commits: ["◔", "commits", "busy"],
  asks: ["?", "asks", "odd"],
  failed: ["✗", "failed", "bad"],
  waits: ["✗", "waits", "bad"],
  done: ["✓", "done", "good"],
  skipped: ["⊘", "skipped", "odd"],
};

/** The state of a run: its words and its tone. @type {Record<string, [string, string]>} */
export const STATES = {
  not_started: ["not started", "faint"],
  running: ["running", "busy"],
  paused: ["paused", "odd"],
  stopped: ["stopped", "bad"],
  aborted: ["aborted", "bad"],
  interrupted: ["interrupted", "odd"],
  crashed: ["stopped without an end", "bad"],
  complete: ["complete", "good"],
};

/** A bar of what is done. @param {number} done @param {number} all */
export function progress(done, all) {
  const bar = el("progress", { max: Math.max(all, 1), value: done, "aria-label": `${done} of ${all} tasks done` });
  return bar;
}
