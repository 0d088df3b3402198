import { Fragment, type ReactNode } from "react";

/** A character that no text of a person or of the service contains. */
const mark = "\u0000";

type Text<V> = (values: V) => string;
/** A text with one placeholder takes its element under any name. */
type Elements<V> = V extends string | number
  ? { readonly [name: string]: ReactNode | Text<V> }
  : { readonly [Name in keyof V]: ReactNode };

/** Puts elements into a text: `<Filled text={t.invitations.asUser} email={<bdi>{email}</bdi>} />`. */
export function Filled<V>({ text, ...rest }: { text: Text<V> } & Elements<V>): ReactNode {
  const elements = rest as Readonly<Record<string, ReactNode>>;
  const names = Object.keys(elements);
  const marked = Object.fromEntries(names.map((name) => [name, mark + name + mark]));
  const [only = ""] = names;
  const values = names.length === 1 ? marked[only] : marked;
  return text(values as V)
    .split(mark)
    .map((part, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change their order.
      <Fragment key={at}>{at % 2 === 1 ? elements[part] : part}</Fragment>
    ));
}
