import type { Hex } from "./colours.ts";

/** Address of the preview of the person's page, for the brand editor of the dashboard only. */
export const previewPath = "/verify/preview";

/** Sent by the preview to the page around it, once it accepts a look. */
export const previewReady = "assay:preview-ready";

/** Sent by the parent page to the preview in its frame. Only the same origin is accepted. */
export type Look = {
  type: "assay:look";
  name: string;
  /** The proven domain; null: the preview shows the sandbox, which needs none. */
  domain: string | null;
  colour: Hex | null;
  /** The address of a picture of this origin, or of one that was just chosen (`blob:`). */
  logo: string | null;
  scheme: "light" | "dark";
};

/** Null for whatever is no look. */
export function readLook(message: unknown): Look | null {
  if (typeof message !== "object" || message === null) return null;
  const { type, name, domain, colour, logo, scheme } = message as Partial<Record<keyof Look, unknown>>;
  if (type !== "assay:look" || typeof name !== "string" || !isTextOrNull(domain) || !isTextOrNull(logo))
    return null;
  if (scheme !== "light" && scheme !== "dark") return null;
  const isColour = typeof colour === "string" && /^#[0-9a-f]{6}$/.test(colour);
  return { type, name, domain, colour: isColour ? (colour as Hex) : null, logo, scheme };
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}
