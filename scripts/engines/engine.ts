/**
 * A browser of another vendor, driven by its native protocol,
 * so that nothing must be built or downloaded for it.
 */
export type Engine = {
  readonly version: string;
  goto(url: string): Promise<void>;
  /** The value of an expression in the page, which may be a promise. */
  evaluate<T>(expression: string): Promise<T>;
  /** PNG. */
  screenshot(): Promise<Buffer>;
  /** Size of the page, as close as possible: a window has a minimum width. */
  resize(width: number, height: number): Promise<void>;
  /** Errors reported by the browser. WebKit reports none, so there its pages collect them after loading. */
  problems(): Promise<string[]>;
  close(): Promise<void>;
};

/** The path of a program of this name, or null. */
export type FindProgram = (...names: readonly string[]) => string | null;

export class EngineMissing extends Error {}
