/**
 * An unexpected error, without its message: a parser may quote what it was given, which here is of a person, and messages of errors are
 * logged. Its name and its place stay.
 */
export async function withoutWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const known = error instanceof Error ? error : new Error();
    const wordless = new Error("an answer of a wallet could not be judged");
    wordless.name = known.name;
    const [, place = ""] = (known.stack ?? "").split(`${known.message}\n`);
    wordless.stack = `${wordless.name}: ${wordless.message}\n${place}`;
    throw wordless;
  }
}
