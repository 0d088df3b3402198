import type { Sight } from "./framing.ts";

/** What the guide's worker tells the page. */
export type GuideAnswer = { kind: "ready" } | { kind: "failed" } | { kind: "sight"; sight: Sight };
