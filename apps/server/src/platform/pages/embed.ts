import { readFileSync } from "node:fs";

/** The script for pages of partners, and its types. It is not minified, so that partners can read it. */
export const embedScript = (): string => readFileSync(new URL("embed/v1.js", import.meta.url), "utf8");
export const embedTypes = (): string => readFileSync(new URL("embed/v1.d.ts", import.meta.url), "utf8");
