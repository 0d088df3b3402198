/**
 * Counts the steps of a backtracking engine for a regular expression, to find super-linear patterns (ReDoS)
 * without a stopwatch. The engine itself judges atoms; only the order of alternatives is imitated.
 */
type Atom = { kind: "atom"; accepts: (character: string) => boolean };
type Group = { kind: "group"; options: Part[][] };
type Repeat = { kind: "repeat"; of: Atom | Group; min: number; max: number };
type Part = Atom | Group | Repeat | { kind: "start" } | { kind: "end" };

const tokens =
  /(?<group>\((?:\?:)?)|(?<close>\))|(?<or>\|)|(?<start>\^)|(?<end>\$)|(?<repeat>[*+?]|\{\d+(?:,\d*)?\})|(?<atom>\[(?:\\.|[^\]\\])*\]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[^ux]|[^\\[\](){}])/suy;

export function parsePattern(source: string): Part[] {
  const whole: Group = { kind: "group", options: [[]] };
  const open: Group[] = [whole];
  tokens.lastIndex = 0;
  while (tokens.lastIndex < source.length) {
    const at = tokens.lastIndex;
    const token = tokens.exec(source)?.groups;
    const group = open.at(-1);
    const parts = group?.options.at(-1);
    if (token === undefined || group === undefined || parts === undefined)
      throw new Error(`cannot read the pattern ${source} at ${at}`);
    if (token.group !== undefined) {
      const inner: Group = { kind: "group", options: [[]] };
      parts.push(inner);
      open.push(inner);
    } else if (token.close !== undefined) open.pop();
    else if (token.or !== undefined) group.options.push([]);
    else if (token.start !== undefined) parts.push({ kind: "start" });
    else if (token.end !== undefined) parts.push({ kind: "end" });
    else if (token.atom !== undefined) parts.push(atomOf(token.atom));
    else if (token.repeat !== undefined) {
      const of = parts.pop();
      if (of?.kind !== "atom" && of?.kind !== "group") throw new Error(`cannot repeat at ${at} in ${source}`);
      parts.push({ kind: "repeat", of, ...boundsOf(token.repeat) });
    }
  }
  if (open.length !== 1) throw new Error(`cannot read the pattern ${source}`);
  return [whole];
}

function atomOf(source: string): Atom {
  const pattern = new RegExp(`^${source}$`, "u");
  const known = new Map<string, boolean>();
  return {
    kind: "atom",
    accepts: (character) => {
      const answer = known.get(character) ?? pattern.test(character);
      known.set(character, answer);
      return answer;
    },
  };
}

function boundsOf(quantifier: string): { min: number; max: number } {
  if (quantifier === "*") return { min: 0, max: Infinity };
  if (quantifier === "+") return { min: 1, max: Infinity };
  if (quantifier === "?") return { min: 0, max: 1 };
  const [min = "", max = min] = quantifier.slice(1, -1).split(",");
  return { min: Number(min), max: max === "" ? Infinity : Number(max) };
}

export type Run = { matches: boolean; steps: number };

/** What a run costs; at most `limit` steps are taken, after which it counts as no match. */
export function runPattern(pattern: readonly Part[], text: string, limit = Infinity): Run {
  const characters = [...text];
  let steps = 0;
  const run = (parts: readonly Part[], index: number, at: number, next: (at: number) => boolean): boolean => {
    const part = parts[index];
    if (part === undefined) return next(at);
    if (++steps > limit) return false;
    const rest = (from: number) => run(parts, index + 1, from, next);
    switch (part.kind) {
      case "start":
        return at === 0 && rest(at);
      case "end":
        return at === characters.length && rest(at);
      case "atom":
        return at < characters.length && part.accepts(characters[at] ?? "") && rest(at + 1);
      case "group":
        return part.options.some((option) => run(option, 0, at, rest));
      case "repeat": {
        const { of, min, max } = part;
        if (of.kind === "group") {
          const more = (count: number, from: number): boolean =>
            (count < max && run([of], 0, from, (to) => to > from && more(count + 1, to))) ||
            (count >= min && rest(from));
          return more(0, at);
        }
        let count = 0;
        while (count < max && at + count < characters.length && of.accepts(characters[at + count] ?? "")) {
          count += 1;
          steps += 1;
        }
        for (; count >= min; count--) if (rest(at + count)) return true;
        return false;
      }
    }
  };
  for (let from = 0; from <= characters.length && steps <= limit; from++)
    if (run(pattern, 0, from, () => true)) return { matches: true, steps };
  return { matches: false, steps };
}

const probes = [
  ...Array.from({ length: 256 }, (_, code) => String.fromCodePoint(code)),
  "中",
  "\u2028",
  "😀",
];

function atomsOf(parts: readonly Part[]): Atom[] {
  return parts.flatMap((part) => {
    if (part.kind === "atom") return [part];
    if (part.kind === "group") return part.options.flatMap(atomsOf);
    return part.kind === "repeat" ? atomsOf([part.of]) : [];
  });
}

/** One character for each set of atoms that accept the same, and one that no atom accepts, if any. */
function representatives(pattern: readonly Part[]): string[] {
  const atoms = atomsOf(pattern);
  const bySignature = new Map<string, string>();
  for (const probe of probes) {
    const signature = atoms.map((atom) => (atom.accepts(probe) ? "1" : "0")).join("");
    if (!bySignature.has(signature)) bySignature.set(signature, probe);
  }
  return [...bySignature.values()];
}

function sampleOf(parts: readonly Part[]): string {
  return parts
    .map((part) => {
      if (part.kind === "atom") return probes.findLast((probe) => part.accepts(probe)) ?? "";
      if (part.kind === "group") return sampleOf(part.options[0] ?? []);
      return part.kind === "repeat" ? sampleOf([part.of]).repeat(part.min) : "";
    })
    .join("");
}

/** What leads to each place of the pattern. */
function prefixesOf(parts: readonly Part[]): string[] {
  return parts.flatMap((part, index) => {
    const before = sampleOf(parts.slice(0, index));
    const group = part.kind === "repeat" ? part.of : part;
    const inner = group.kind === "group" ? group.options.flatMap(prefixesOf) : [];
    return [before, ...inner.map((prefix) => before + prefix)];
  });
}

/** Makes texts: a prefix that enters the pattern, a long run of an atom, an end that spoils the match. */
export function hostileTexts(pattern: readonly Part[]): ((length: number) => string)[] {
  const single = representatives(pattern);
  const accepted = single.filter((character) => atomsOf(pattern).some((atom) => atom.accepts(character)));
  const pairs = accepted.flatMap((first) => accepted.map((second) => first + second));
  return [...new Set(prefixesOf(pattern))].flatMap((prefix) =>
    [...accepted, ...pairs].flatMap((pump) =>
      ["", ...single].map(
        (end) => (length: number) => prefix + pump.repeat(Math.ceil(length / pump.length)) + end,
      ),
    ),
  );
}

const shortLength = 32;
const growth = 8;

/**
 * Whether some hostile text costs far more than in proportion to its length. For eight times the length a
 * linear pattern takes 8 times the steps, a quadratic one about 64 times. 24 lies between.
 */
export function isSuperLinear(pattern: readonly Part[]): boolean {
  return hostileTexts(pattern).some((textOf) => {
    const few = runPattern(pattern, textOf(shortLength), 100_000).steps;
    const limit = 24 * Math.max(few, shortLength);
    return few > 100_000 || runPattern(pattern, textOf(shortLength * growth), limit).steps > limit;
  });
}
