/** A part of the driver that its types omit. Only `pipeline.ts` needs it. */
declare module "pg/lib/utils.js" {
  /** A value in its wire format. */
  export function prepareValue(value: unknown): string | Buffer | null;
}
