import { createHash } from "node:crypto";

/** A statement with its parameters apart from its text. Only the `sql` tag makes one, so text never holds a value. */
export class Sql {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];

  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings;
    this.values = values;
  }

  get text(): string {
    let text = this.strings[0] ?? "";
    for (let i = 1; i < this.strings.length; i++) text += `$${i}${this.strings[i]}`;
    return text;
  }
}

/** Values become parameters; a nested `sql` fragment becomes part of the text. */
export function sql(strings: TemplateStringsArray, ...values: readonly unknown[]): Sql {
  if (!values.some((value) => value instanceof Sql)) return new Sql(strings, values);
  const texts: string[] = [strings[0] ?? ""];
  const flat: unknown[] = [];
  const appendText = (text: string) => {
    texts[texts.length - 1] += text;
  };
  values.forEach((value, index) => {
    if (value instanceof Sql) {
      value.strings.forEach((part, i) => {
        if (i === 0) appendText(part);
        else {
          flat.push(value.values[i - 1]);
          texts.push(part);
        }
      });
    } else {
      flat.push(value);
      texts.push("");
    }
    appendText(strings[index + 1] ?? "");
  });
  return new Sql(texts, flat);
}

export function joinSql(parts: readonly Sql[], separator: Sql): Sql {
  return parts.reduce((joined, part, i) => (i === 0 ? part : sql`${joined}${separator}${part}`), sql``);
}

export const noSql = sql``;

const names = new Map<string, string>();

/** The same text always gets the same name, so PostgreSQL parses and plans it once for each connection. */
export function statementName(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = createHash("sha256").update(text).digest("base64url").slice(0, 20);
    names.set(text, name);
  }
  return name;
}
