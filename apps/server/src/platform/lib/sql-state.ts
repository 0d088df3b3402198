/** The SQLSTATE of an error of PostgreSQL, or the code of an error of Node. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
