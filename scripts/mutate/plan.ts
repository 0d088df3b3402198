// Facts about the tests. `worker.ts` collects them before the first mutant,
// and `run-mutants.ts` passes them to later processes.

/** How a file is prepared for each mutant. */
export type Mode =
  /** Loaded once: its tests open nothing and leave nothing behind. */
  | "keep"
  /** Reloaded with a new service and database, and only the tests that reach the mutant run. */
  | "reload"
  /** Loaded again, and all tests run in their order: some build on the ones before. */
  | "whole";

export type Hits = Readonly<Record<string, number>>;
/** `cpuMs`: of this process alone. A machine that is busy makes it longer by little. */
export type PlannedTest = { name: string; ms: number; cpuMs: number; hits: Hits };
export type PlannedFile = {
  file: string;
  mode: Mode;
  loadCpuMs: number;
  /** Mutants that are reached while the file is loaded, as by the start of its service. */
  loadHits: Hits;
  tests: PlannedTest[];
  /** The addresses of all modules that it loads. */
  modules: string[];
};
export type Plan = {
  files: PlannedFile[];
  /** Mutants in code that runs while its module is loaded: they must be on before. */
  statics: string[];
  /** Tests that do not pass without any mutant. */
  failing: string[];
};

/** The test that noticed a mutant, and how. */
export type Notice = { file: string; test: string; reason: string };
export type Result = {
  id: string;
  status: "killed" | "timeout" | "survived" | "uncovered";
  by?: Notice;
  /** Some tests that reach it were left out: it had its time, or what they said could not be trusted. */
  isCutShort?: boolean;
};

export type Job =
  | { kind: "plan"; files: readonly string[] }
  | { kind: "try"; plan: Plan; ids: readonly string[]; batchSize: number; patience: number }
  /** The mutant is on before its module is loaded. */
  | { kind: "static"; plan: Plan; id: string; module: string; patience: number };

export type Report =
  | { kind: "beat"; id: string | null; maxMs: number }
  | { kind: "planned"; plan: Plan }
  | { kind: "mode"; mode: Mode; by: Notice }
  /** A test fails now and then without a mutant. */
  | { kind: "unsteady"; by: Notice }
  | { kind: "results"; results: Result[] }
  /** A test no longer passes without a mutant: the results of this batch are discarded. */
  | { kind: "spoilt"; ids: readonly string[] }
  /** A test did not end, so that this process is of no more use. */
  | { kind: "late"; id: string; by: Notice };
export type Sent = Report & { cpuSeconds: number };
