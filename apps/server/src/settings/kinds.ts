export type Setting<T> = {
  env: string;
  about: string;
  shownDefault: string;
  fallback: T;
  read: (text: string) => T;
};

/** Says what is wrong with a value, without repeating the value: it may be a secret. */
export class Problem extends Error {}

export function define<T>(
  env: string,
  about: string,
  fallback: T,
  shownDefault: string,
  read: (text: string) => T,
): Setting<T> {
  return { env, about, fallback, shownDefault, read };
}

export function text(
  env: string,
  about: string,
  fallback: string,
  shownDefault = fallback === "" ? "(unset)" : fallback,
) {
  return define<string>(env, about, fallback, shownDefault, (value) => value);
}

export function integer(env: string, about: string, fallback: number, min: number, max: number) {
  return define<number>(env, about, fallback, String(fallback), (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < min || number > max)
      throw new Problem(`must be a whole number from ${min} to ${max}`);
    return number;
  });
}

export function decimal(env: string, about: string, fallback: number, min: number, max: number) {
  return define<number>(env, about, fallback, String(fallback), (value) => {
    const number = Number(value);
    if (!/^\d+(\.\d+)?$/.test(value) || number < min || number > max)
      throw new Problem(`must be a number from ${min} to ${max}`);
    return number;
  });
}

export function oneOf<const V extends readonly string[]>(
  env: string,
  about: string,
  values: V,
  fallback: V[number],
) {
  return define<V[number]>(env, about, fallback, fallback, (value) => {
    if (!values.includes(value)) throw new Problem(`must be one of: ${values.join(", ")}`);
    return value as V[number];
  });
}

export function flag(env: string, about: string) {
  return define<boolean>(env, about, false, "false", (value) => {
    if (value !== "true" && value !== "false") throw new Problem("must be true or false");
    return value === "true";
  });
}

export function url(env: string, about: string, protocols: readonly string[], shownDefault = "(unset)") {
  return define<string>(env, about, "", shownDefault, (value) => {
    const parsed = URL.parse(value);
    if (parsed === null || !protocols.includes(parsed.protocol)) {
      throw new Problem(
        `must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
      );
    }
    return value;
  });
}

/** Address of a PostgreSQL server. Problems do not repeat it: it may hold a password. */
export function databaseAddress(env: string, about: string, shownDefault = "(unset)") {
  return define<string>(env, about, "", shownDefault, (value) => {
    const [, hosts, query] = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#]*)[^?#]*(\?[^#]*)?$/.exec(value) ?? [];
    if (hosts === undefined) throw new Problem("must be a URL that starts with postgres:// or postgresql://");
    if (`${hosts}${new URLSearchParams(query).get("host") ?? ""}`.includes(","))
      throw new Problem(
        "must name one host: use the single address that your database operator or proxy keeps pointed at the primary",
      );
    if (!URL.canParse(value)) throw new Problem("must name the host as host or host:port");
    return value;
  });
}

export function list(env: string, about: string, check: (entry: string) => string | null) {
  return define<readonly string[]>(env, about, [], "(unset)", (value) => {
    const entries = value
      .split(",")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== "");
    for (const [index, entry] of entries.entries()) {
      const problem = check(entry);
      if (problem !== null) throw new Problem(`entry ${index + 1} ${problem}`);
    }
    return entries;
  });
}

/** The format of OpenTelemetry for headers and attributes (that of W3C Baggage). */
export function pairs(env: string, about: string) {
  return define<Readonly<Record<string, string>>>(env, about, {}, "(unset)", (value) => {
    const entries = value.split(",").filter((entry) => entry.trim() !== "");
    return Object.fromEntries(
      entries.map((entry, index) => {
        const at = entry.indexOf("=");
        const name = entry.slice(0, at).trim();
        if (at < 1 || !/^[\w.-]+$/.test(name))
          throw new Problem(`entry ${index + 1} is not of the form name=value`);
        return [name, decodeEntry(entry.slice(at + 1).trim(), index)];
      }),
    );
  });
}

function decodeEntry(text: string, index: number): string {
  try {
    const decoded = decodeURIComponent(text);
    if (/^[\x20-\x7e]*$/.test(decoded)) return decoded;
  } catch {
    // Reported below.
  }
  throw new Problem(`entry ${index + 1} has a value that is not percent-encoded ASCII`);
}
