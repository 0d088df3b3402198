import { Fragment, type ReactNode } from "react";

/** No text of a person or of the service has it. */
const mark = "\u0000";

/**
 * A text whose places are filled with elements: `<Filled text={t.invitations.asUser} email={<bdi>{email}</bdi>} />`. A text
 * with one place takes its element under any name.
 */
export function Filled<V extends string | Readonly<Record<string, string>>>({
  text,
  ...elements
}: { text: (values: V) => string } & Readonly<Record<string, ReactNode>>): ReactNode {
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
