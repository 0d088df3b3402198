/** Replaces the message of an unexpected error, because a parser may quote personal data. */
export async function withoutMessage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const known = error instanceof Error ? error : new Error();
    const anonymous = new Error("could not judge an answer of a wallet");
    anonymous.name = known.name;
    const [, place = ""] = (known.stack ?? "").split(`${known.message}\n`);
    anonymous.stack = `${anonymous.name}: ${anonymous.message}\n${place}`;
    throw anonymous;
  }
}
