export type Encoding = "br" | "gzip";

/** The best of our encodings that `Accept-Encoding` allows, or null for a plain answer. */
export function acceptedEncoding(header: string | string[] | undefined): Encoding | null {
  const accepted = new Map<string, boolean>();
  for (const part of String(header ?? "").split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    accepted.set(name, !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)));
  }
  return (["br", "gzip"] as const).find((name) => accepted.get(name) ?? accepted.get("*")) ?? null;
}
