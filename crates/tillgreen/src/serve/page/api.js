// @ts-check
// What the server is asked, and what it is told.

/** @typedef {import("./types").Whole} Whole */
/** @typedef {import("./types").Changes} Changes */

import { byId, clock, put } from "./dom.js";

/** What the server refuses, in its words. */
export class Refused extends Error {
  /** @param {number} status @param {string} text */
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

/** @param {Response} response */
async function refusal(response) {
  const text = await response.text();
  try {
    const { error, hints } = JSON.parse(text);
    return new Refused(response.status, [error, ...(hints ?? [])].join(" — "));
  } catch {
    return new Refused(response.status, text.trim() || response.statusText);
  }
}

/**
 * Asks for something.
 * @param {string} path
 * @param {Record<string, string | number | null | undefined>} [query]
 * @returns {Promise<any>}
 */
export async function ask(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  const response = await fetch(given.length > 0 ? `${path}?${search}` : path);
  if (!response.ok) throw await refusal(response);
  return response.json();
}

/**
 * Says something to a run; what became of it, in words.
 * @param {Record<string, unknown>} saying
 * @returns {Promise<string>}
 */
export async function say(saying) {
  const response = await fetch("/api/say", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(saying),
  });
  if (!response.ok) throw await refusal(response);
  return (await response.json()).said;
}

/** When the server was last heard. */
let heard = Date.now();

/** Says that the server does not answer, or that it does again. @param {unknown} [error] */
export function connection(error) {
  const strip = byId("strip");
  if (error === undefined) {
    heard = Date.now();
    if (strip.dataset.kind === "lost") strip.hidden = true;
    return;
  }
  const is_closed = error instanceof Refused && error.status === 401;
  strip.dataset.kind = "lost";
  strip.hidden = false;
  put(strip, is_closed
    ? "This page is of an earlier start of `tillgreen serve`: open the address that it printed last."
    : `Not connected, last seen ${clock(heard)}; trying again.`);
}

/**
 * A run that is followed: the folded state at once, then what changes.
 */
export class Live {
  /**
   * @param {string} run
   * @param {(changed: Set<number> | null) => void} changed told the places of the rows that changed; null for all
   */
  constructor(run, changed) {
    this.run = run;
    this.changed = changed;
    /** @type {Whole | null} */
    this.whole = null;
    /** How far the server's clock is ahead of ours. */
    this.ahead = 0;
    this.wait = 500;
    /** @type {EventSource | null} */
    this.source = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.is_closed = false;
  }

  /** The time of the server. */
  now() {
    return Date.now() + this.ahead;
  }

  /** Asks for all of it, and follows. */
  async open() {
    try {
      /** @type {Whole} */
      const whole = await ask("/api/run", { run: this.run });
      if (this.is_closed) return;
      this.whole = whole;
      this.ahead = whole.now - Date.now();
      connection();
      this.changed(null);
      this.follow();
    } catch (error) {
      if (error instanceof Refused && error.status === 400) throw error;
      this.again(error, () => this.open());
    }
  }

  follow() {
    if (this.is_closed || !this.whole) return;
    const { generation, seq } = this.whole.head;
    const query = new URLSearchParams({ run: this.run, generation: String(generation), after: String(seq) });
    const source = new EventSource(`/api/events?${query}`);
    this.source = source;
    source.onmessage = (message) => this.take(JSON.parse(message.data));
    source.onerror = async () => {
      // The source would try again from where it began: what came since is known.
      source.close();
      let error = /** @type {unknown} */ (new Error("the connection is lost"));
      try {
        await ask("/api/runs");
      } catch (cause) {
        error = cause;
      }
      this.again(error, () => this.follow());
    };
  }

  /** @param {unknown} error @param {() => unknown} then */
  again(error, then) {
    if (this.is_closed) return;
    connection(error);
    this.timer = setTimeout(then, this.wait);
    this.wait = Math.min(this.wait * 2, 5000);
  }

  /** @param {Changes} changes */
  take(changes) {
    connection();
    this.wait = 500;
    if (changes.reload || !this.whole) {
      this.source?.close();
      this.open();
      return;
    }
    const whole = this.whole;
    whole.head = changes.head;
    this.ahead = changes.now - Date.now();
    for (const [place, row] of changes.rows) whole.rows[place] = row;
    for (const [place, bar] of changes.bars) whole.bars[place] = bar;
    this.changed(new Set(changes.rows.map(([place]) => place)));
  }

  close() {
    this.is_closed = true;
    this.source?.close();
    clearTimeout(this.timer);
  }
}
