import type { Sight, Tip } from "@assay/mrz-reader/mrz-reader";

/** To the worker. It has no network of its own: what it needs is given to it. */
export type ZoneQuestion =
  | { readonly type: "load"; readonly plan: unknown; readonly weights: ArrayBuffer }
  | { readonly type: "look"; readonly picture: ImageData; readonly atMs: number; readonly tip: Tip | null };

/** What it answers to each, in turn. */
export type ZoneAnswer =
  | { readonly type: "ready" }
  | { readonly type: "failed" }
  | { readonly type: "sight"; readonly sight: Sight };
