/** A part of the driver that its types leave out. `pipeline.ts` alone needs it. */
declare module "pg/lib/utils.js" {
  /** A value as it travels in a message. */
  export function prepareValue(value: unknown): string | Buffer | null;
}
