// What the server sends, for whoever checks the types of the modules; it is not served.

/** An open question. */
export interface Question {
  task: string;
  title: string;
  since: string;
  text: string;
  error: string | null;
  words: string[];
}

/** The latest answer. */
export interface Answered {
  task: string;
  by: string | null;
  at: number;
  text: string;
}

/** A run in the list. */
export interface Listed {
  run: string;
  plan: string;
  path: string;
  archived: boolean;
  state: string;
  reason?: string | null;
  trouble?: string;
  done: number;
  total: number;
  skipped?: number;
  failed?: number;
  cost?: number | null;
  began?: number | null;
  elapsed?: number;
  question?: Question | null;
}

/** A run as a whole. */
export interface Head {
  run: string;
  plan: string;
  path: string;
  branch: string | null;
  archived: boolean;
  state: string;
  reason: string | null;
  trouble: string | null;
  again: string;
  pid: number | null;
  pausing: boolean;
  generation: number;
  seq: number;
  done: number;
  total: number;
  skipped: number;
  fixes: number;
  attempts: number;
  failed: number;
  tokens: number | null;
  cost: number | null;
  cost_max: number | null;
  elapsed: number;
  left: number | null;
  began: number | null;
  latest: number | null;
  question: Question | null;
  answered: Answered | null;
}

/** `[id, title, stage, depth, stand, attempts, failures, took, cost, step, since, commit]` */
export type Row = [
  string, string, number, number, string, number, number,
  number | null, number | null, string | null, number | null, string | null,
];

/** `[place of the task, attempt, began, claimed, landing, ended, outcome]` */
export type Bar = [number, number, number, number, number, number | null, string];

/** A run, folded. */
export interface Whole {
  now: number;
  head: Head;
  phases: Record<string, string>;
  rows: Row[];
  bars: Bar[];
}

/** What changed in it. */
export interface Changes {
  reload?: boolean;
  now: number;
  head: Head;
  rows: [number, Row][];
  bars: [number, Bar][];
}

/** A part of a text. */
export interface Part {
  total: number;
  from: number;
  lines: [string, string][];
}

/** An attempt. */
export interface Attempt {
  attempt: number | null;
  role?: string;
  agent?: string;
  began: string;
  worked_ms: number;
  verdict: string;
  usage?: { cost_micros?: number; input?: number; cached?: number; output?: number };
}

/** A task. */
export interface Report {
  task: string;
  title: string;
  fields: { name: string; text: string }[];
  fix_of?: { task: string; error: string }[];
  commit?: string;
  attempts: Attempt[];
}

/** What was spent. */
export interface Costs {
  points: [number, string, number][];
  agents: {
    agent: string; passed: number; failed: number; lost: number; worked: number;
    tokens: number | null; cost: number | null;
  }[];
  patterns: [string, number][];
}

/** What all runs tell together. */
export interface Trend {
  runs: {
    plan: string; began: string | null; tasks: number; first: number; percent: number;
    attempts: number; failed: number; cost_micros?: number;
  }[];
  agents: {
    agent: string; model: string | null; attempts: number; verified: number; begun: number;
    first: number; worked_ms: number; cost_micros?: number;
  }[];
  days: { day: string; failures: [number, number, number, number]; attempts: number }[];
  patterns: [string, number][];
}

/** What a page shows. */
export interface View {
  /** Ends it. */
  close(): void;
  /** Takes in a key; true if it meant something. */
  key?(key: string): boolean;
  /** Takes in that the address names another part of it. */
  hash?(): void;
}
