/** A browser of another maker, driven by the protocol that it speaks itself, so that nothing has to be built or downloaded for it. */
export type Engine = {
  readonly version: string;
  goto(url: string): Promise<void>;
  /** The value of an expression in the page, which may be a promise. */
  evaluate<T>(expression: string): Promise<T>;
  /** PNG. */
  screenshot(): Promise<Buffer>;
  /** Of the page, as near as the browser comes to it: a window has a least width. */
  resize(width: number, height: number): Promise<void>;
  /** What the browser said was wrong; of WebKit, which tells nobody outside, what its pages heard after they had loaded. */
  problems(): Promise<string[]>;
  close(): Promise<void>;
};

/** Where a program of this name is, or null. */
export type FindProgram = (...names: readonly string[]) => string | null;

export class EngineMissing extends Error {}
