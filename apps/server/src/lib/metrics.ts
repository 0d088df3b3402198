/** Labels are names from our own code (a route id, a status, a job), never anything a caller sent. */
export type Labels = Record<string, string>;

type Metric = { name: string; render(): string[] };

function key(labels: Labels): string {
  const entries = Object.entries(labels);
  if (entries.length === 0) return "";
  return `{${entries.map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, "_")}"`).join(",")}}`;
}

/** The few kinds of metric we need, in the Prometheus text format. */
export class Metrics {
  readonly #metrics: Metric[] = [];

  counter(name: string, help: string): (labels?: Labels, by?: number) => void {
    const values = new Map<string, number>();
    this.#metrics.push({
      name,
      render: () => [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} counter`,
        ...[...values].map(([labels, value]) => `${name}${labels} ${value}`),
      ],
    });
    return (labels = {}, by = 1) => {
      const label = key(labels);
      values.set(label, (values.get(label) ?? 0) + by);
    };
  }

  gauge(name: string, help: string): (value: number, labels?: Labels) => void {
    const values = new Map<string, number>();
    this.#metrics.push({
      name,
      render: () => [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} gauge`,
        ...[...values].map(([labels, value]) => `${name}${labels} ${value}`),
      ],
    });
    return (value, labels = {}) => {
      values.set(key(labels), value);
    };
  }

  /** Counters that somebody keeps by themselves, because they count too often for labels to be looked up each time. */
  countersOf(name: string, help: string, label: string, read: () => Readonly<Record<string, number>>): void {
    this.#metrics.push({
      name,
      render: () => [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} counter`,
        ...Object.entries(read()).map(([value, count]) => `${name}${key({ [label]: value })} ${count}`),
      ],
    });
  }

  /** A gauge whose value is computed when it is scraped. */
  gaugeOf(name: string, help: string, read: () => number): void {
    this.#metrics.push({
      name,
      render: () => [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${read()}`],
    });
  }

  histogram(
    name: string,
    help: string,
    buckets: readonly number[],
  ): (value: number, labels?: Labels) => void {
    const series = new Map<string, { labels: Labels; counts: number[]; sum: number; count: number }>();
    this.#metrics.push({
      name,
      render: () => {
        const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`];
        for (const { labels, counts, sum, count } of series.values()) {
          buckets.forEach((bound, i) => {
            lines.push(`${name}_bucket${key({ ...labels, le: String(bound) })} ${counts[i] ?? 0}`);
          });
          lines.push(`${name}_bucket${key({ ...labels, le: "+Inf" })} ${count}`);
          lines.push(`${name}_sum${key(labels)} ${sum}`, `${name}_count${key(labels)} ${count}`);
        }
        return lines;
      },
    });
    return (value, labels = {}) => {
      const label = key(labels);
      let entry = series.get(label);
      if (entry === undefined) {
        entry = { labels, counts: buckets.map(() => 0), sum: 0, count: 0 };
        series.set(label, entry);
      }
      entry.sum += value;
      entry.count += 1;
      for (let i = buckets.length - 1; i >= 0 && value <= (buckets[i] ?? 0); i--)
        entry.counts[i] = (entry.counts[i] ?? 0) + 1;
    };
  }

  /** The values of one metric as they stand, by the names of their series with labels, for who tells about them in another form. */
  valuesOf(name: string): ReadonlyMap<string, number> {
    const lines = this.#metrics.filter((metric) => metric.name === name).flatMap((metric) => metric.render());
    return new Map(
      lines
        .filter((line) => !line.startsWith("#"))
        .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
    );
  }

  render(): string {
    return `${this.#metrics.flatMap((metric) => metric.render()).join("\n")}\n`;
  }
}
