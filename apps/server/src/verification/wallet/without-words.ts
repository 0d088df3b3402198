/**
 * Replaces the message of an unexpected error: a parser may quote personal data, and messages are logged.
 * Name and stack stay.
 */
export async function withoutWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const known = error instanceof Error ? error : new Error();
    const wordless = new Error("could not judge an answer of a wallet");
    wordless.name = known.name;
    const [, place = ""] = (known.stack ?? "").split(`${known.message}\n`);
    wordless.stack = `${wordless.name}: ${wordless.message}\n${place}`;
    throw wordless;
  }
}
