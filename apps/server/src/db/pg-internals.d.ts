/** Parts of the driver that its types leave out. `flight.ts` alone needs them. */
declare module "pg/lib/utils.js" {
  /** A value as it travels in a message. */
  export function prepareValue(value: unknown): string | Buffer | null;
}

declare module "pg/lib/result.js" {
  import type { FieldDef, QueryResult } from "pg";

  type Row = Record<string, unknown>;
  type ResultBuilder = QueryResult<Row> & {
    addFields(fields: readonly FieldDef[]): void;
    addRow(row: Row): void;
    addCommandComplete(message: { text: string }): void;
    parseRow(fields: readonly unknown[]): Row;
  };
  const Result: new () => ResultBuilder;
  // biome-ignore lint/style/noDefaultExport: it is what the driver's file has
  export default Result;
}
