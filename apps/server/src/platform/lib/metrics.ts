/** Labels are names from our code (a route id, a status, a job), never input of a caller. */
type Labels = Record<string, string>;

type Value = { labels: Labels; value: number };
/** Of a histogram: the counts at or below each bound, and the total. */
type Distribution = { labels: Labels; counts: readonly number[]; sum: number; count: number };

type Reading = { name: string; help: string } & (
  | { kind: "counter" | "gauge"; values: readonly Value[] }
  | { kind: "histogram"; bounds: readonly number[]; distributions: readonly Distribution[] }
);

function key(labels: Labels): string {
  const entries = Object.entries(labels);
  if (entries.length === 0) return "";
  return `{${entries.map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, "_")}"`).join(",")}}`;
}

/** The few kinds of metric we need. They are shown in the Prometheus text format. */
export class Metrics {
  readonly #readers: (() => Reading)[] = [];

  counter(name: string, help: string): (labels?: Labels, by?: number) => void {
    const values = new Map<string, Value>();
    this.#readers.push(() => ({ name, help, kind: "counter", values: [...values.values()] }));
    return (labels = {}, by = 1) => {
      const label = key(labels);
      const known = values.get(label);
      if (known === undefined) values.set(label, { labels, value: by });
      else known.value += by;
    };
  }

  gauge(name: string, help: string): (value: number, labels?: Labels) => void {
    const values = new Map<string, Value>();
    this.#readers.push(() => ({ name, help, kind: "gauge", values: [...values.values()] }));
    return (value, labels = {}) => {
      values.set(key(labels), { labels, value });
    };
  }

  /** A gauge that is computed on each scrape. While it is null, there is no series. */
  gaugeOf(name: string, help: string, read: () => number | null): void {
    this.#readers.push(() => {
      const value = read();
      return { name, help, kind: "gauge", values: value === null ? [] : [{ labels: {}, value }] };
    });
  }

  histogram(name: string, help: string, bounds: readonly number[]): (value: number, labels?: Labels) => void {
    const series = new Map<string, { labels: Labels; counts: number[]; sum: number; count: number }>();
    this.#readers.push(() => ({
      name,
      help,
      kind: "histogram",
      bounds,
      distributions: [...series.values()],
    }));
    return (value, labels = {}) => {
      const label = key(labels);
      const entry = series.get(label) ?? { labels, counts: bounds.map(() => 0), sum: 0, count: 0 };
      series.set(label, entry);
      entry.sum += value;
      entry.count += 1;
      for (let i = bounds.length - 1; i >= 0 && value <= (bounds[i] ?? 0); i--)
        entry.counts[i] = (entry.counts[i] ?? 0) + 1;
    };
  }

  read(): Reading[] {
    return this.#readers.map((read) => read());
  }

  /** The current value of one metric, for output in another form. */
  readingOf(name: string): Reading | undefined {
    return this.read().find((reading) => reading.name === name);
  }

  render(): string {
    return `${this.read().flatMap(linesOf).join("\n")}\n`;
  }
}

function linesOf(reading: Reading): string[] {
  const { name, help, kind } = reading;
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`];
  if (reading.kind !== "histogram")
    return [...lines, ...reading.values.map(({ labels, value }) => `${name}${key(labels)} ${value}`)];
  for (const { labels, counts, sum, count } of reading.distributions) {
    reading.bounds.forEach((bound, i) => {
      lines.push(`${name}_bucket${key({ ...labels, le: String(bound) })} ${counts[i] ?? 0}`);
    });
    lines.push(`${name}_bucket${key({ ...labels, le: "+Inf" })} ${count}`);
    lines.push(`${name}_sum${key(labels)} ${sum}`, `${name}_count${key(labels)} ${count}`);
  }
  return lines;
}
