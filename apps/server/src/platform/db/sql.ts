import { createHash } from "node:crypto";

/**
 * Text and name of a statement. The same text always has the same name, so PostgreSQL parses and plans it
 * once per connection.
 */
type PreparedText = { readonly text: string; readonly name: string };

const preparedTexts = new WeakMap<readonly string[], PreparedText>();

/**
 * A statement with its parameters separate from its text. Only the `sql` tag creates one, so the text never
 * holds a value.
 */
export class Sql {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];

  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings;
    this.values = values;
  }

  get text(): string {
    return this.#prepared.text;
  }

  get name(): string {
    return this.#prepared.name;
  }

  get #prepared(): PreparedText {
    const known = preparedTexts.get(this.strings);
    if (known !== undefined) return known;
    let text = this.strings[0] ?? "";
    for (let i = 1; i < this.strings.length; i++) text += `$${i}${this.strings[i]}`;
    const made = { text, name: createHash("sha256").update(text).digest("base64url").slice(0, 20) };
    preparedTexts.set(this.strings, made);
    return made;
  }
}

/**
 * Caches a template by its fragments, in the order of its values. A statement that is composed for each
 * request then has the same strings each time, and its text is built and hashed once.
 */
class Composed {
  strings: readonly string[] | null = null;
  #withValue: Composed | null = null;
  readonly #withFragment = new WeakMap<readonly string[], Composed>();

  next(value: unknown): Composed {
    if (!(value instanceof Sql)) {
      this.#withValue ??= new Composed();
      return this.#withValue;
    }
    let next = this.#withFragment.get(value.strings);
    if (next === undefined) {
      next = new Composed();
      this.#withFragment.set(value.strings, next);
    }
    return next;
  }
}

const composed = new WeakMap<readonly string[], Composed>();

/** Values become parameters; a nested `sql` fragment becomes part of the text. */
export function sql(strings: TemplateStringsArray, ...values: readonly unknown[]): Sql {
  if (!values.some((value) => value instanceof Sql)) return new Sql(strings, values);
  let place = composed.get(strings);
  if (place === undefined) {
    place = new Composed();
    composed.set(strings, place);
  }
  const flat: unknown[] = [];
  for (const value of values) {
    place = place.next(value);
    if (value instanceof Sql) flat.push(...value.values);
    else flat.push(value);
  }
  place.strings ??= compose(strings, values);
  return new Sql(place.strings, flat);
}

function compose(strings: readonly string[], values: readonly unknown[]): readonly string[] {
  const texts: string[] = [strings[0] ?? ""];
  const append = (text: string) => {
    texts[texts.length - 1] += text;
  };
  values.forEach((value, index) => {
    if (value instanceof Sql)
      value.strings.forEach((part, i) => {
        if (i === 0) append(part);
        else texts.push(part);
      });
    else texts.push("");
    append(strings[index + 1] ?? "");
  });
  return texts;
}

export function joinSql(parts: readonly Sql[], separator: Sql): Sql {
  return parts.reduce((joined, part, i) => (i === 0 ? part : sql`${joined}${separator}${part}`), sql``);
}

export const noSql = sql``;

/**
 * "is one of these", after a column; `arrayType` names the array type. A single value is compared directly: a
 * generic plan assumes an array of ten, and PostgreSQL would replan each time because that looks more
 * expensive.
 */
export function isOneOf(values: readonly unknown[], arrayType: Sql): Sql {
  return values.length === 1 ? sql`= ${values[0]}` : sql`= any(${values}::${arrayType})`;
}
