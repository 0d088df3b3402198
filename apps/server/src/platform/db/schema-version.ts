/** The comments at the beginning of a migration (CONTRIBUTING.md, "A migration"). */
export type MigrationHeader = {
  /** Null without a phase, as in migrations up to 0081. */
  phase: "expand" | "contract" | null;
  /** For a contracting migration: code with this migration, or a later one, does not need what is removed. */
  codeSince: number | null;
  inTransaction: boolean;
  /** Tables that it may scan and lock, because they stay small on every installation. */
  smallTables: readonly string[];
};

type Named = { name: string };

export function numberOf({ name }: Named): number {
  return Number.parseInt(name, 10);
}

export function readHeader(text: string): MigrationHeader {
  const head = /^(?:--.*\n)*/.exec(text)?.[0] ?? "";
  const said = (name: string) => new RegExp(`^-- ${name}: (.+)$`, "m").exec(head)?.[1]?.trim() ?? "";
  const phase = said("phase");
  const since = /^contract, code since (\d{4})$/.exec(phase)?.[1];
  return {
    phase: since !== undefined ? "contract" : phase === "expand" ? "expand" : null,
    codeSince: since === undefined ? null : Number(since),
    inTransaction: said("transaction") !== "none",
    smallTables: said("small")
      .split(",")
      .map((table) => table.trim())
      .filter((table) => table !== ""),
  };
}

/**
 * A row of `schema_migrations`. `minCode` is the version that a contracting migration requires of the code.
 */
export type AppliedMigration = Named & { minCode: number | null };

export type SchemaProblem =
  | { kind: "too_new"; minCode: number; code: number }
  | { kind: "too_old"; missing: readonly string[] };

/**
 * Whether code with these migrations can work on a database with those. It needs all of its expanding
 * migrations. Contracting ones may be missing, and additions of a newer release do no harm, as long as
 * nothing was removed that it needs.
 */
export function schemaProblem(
  known: readonly (Named & { text: string })[],
  applied: readonly AppliedMigration[],
): SchemaProblem | null {
  const code = Math.max(0, ...known.map(numberOf));
  const minCode = Math.max(0, ...applied.map((migration) => migration.minCode ?? 0));
  if (minCode > code) return { kind: "too_new", minCode, code };
  const names = new Set(applied.map(({ name }) => name));
  const missing = known
    .filter(({ name, text }) => !names.has(name) && readHeader(text).phase !== "contract")
    .map(({ name }) => name);
  return missing.length === 0 ? null : { kind: "too_old", missing };
}

const fourDigits = (number: number) => String(number).padStart(4, "0");

/** A part of a sentence. */
export function describeSchemaProblem(problem: SchemaProblem): string {
  return problem.kind === "too_old"
    ? `migrations are missing: ${problem.missing.join(", ")}`
    : `the database is too new for this release: it needs a release with migration ${fourDigits(problem.minCode)}, and this one ends with ${fourDigits(problem.code)}`;
}
