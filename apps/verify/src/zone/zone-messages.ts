import type { Sight } from "@assay/mrz-reader/mrz-reader";

/** To the worker. It has no network, so it gets all data in messages. */
export type ZoneQuestion =
  | { readonly kind: "load"; readonly plan: unknown; readonly weights: ArrayBuffer }
  | { readonly kind: "look"; readonly picture: ImageData; readonly atMs: number };

/** Its answers, in order. */
export type ZoneAnswer =
  | { readonly kind: "ready" }
  | { readonly kind: "failed" }
  | { readonly kind: "sight"; readonly sight: Sight };
