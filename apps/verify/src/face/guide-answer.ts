import type { Sight } from "./framing.ts";

/** The messages of the guide's worker. */
export type GuideAnswer = { kind: "ready" } | { kind: "failed" } | { kind: "sight"; sight: Sight };
