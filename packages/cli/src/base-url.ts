import { CommandError } from "./command.ts";

/** Reads the address of the service as typed, without the path of a route. */
export function readBase(given: string | boolean | undefined): string {
  if (typeof given !== "string" || given === "")
    throw new CommandError(
      "--url is missing: the address of the service, for example https://id.example.com.",
    );
  const url = parseUrl(given);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CommandError(`--url must be an address like https://id.example.com, not "${given}".`);
  return `${url.origin}${url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "")}`;
}

/** `URL.parse` is not in Node 20. */
export function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}
