import type { Hex } from "./colours.ts";

/** Where the person's page is shown as a preview, to the brand editor of the dashboard and to nobody else. */
export const previewPath = "/verify/preview";

/** What the preview tells the page around it, once it can be told a look. */
export const previewReady = "assay:preview-ready";

/** What the page around tells the preview in its frame. Only a page of the same origin is listened to. */
export type Look = {
  type: "assay:look";
  name: string;
  /** The proven domain; null: the preview is that of the sandbox, where nobody has to have one. */
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
