import type { Sight } from "./framing.ts";

/** What the guide's worker tells the page. */
export type GuideAnswer = { type: "ready" } | { type: "failed" } | { type: "sight"; sight: Sight };
