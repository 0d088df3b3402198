export function overwrite(value: unknown): void {
  if (value instanceof Uint8Array) value.fill(0);
  else if (typeof value === "object" && value !== null)
    for (const part of Object.values(value)) overwrite(part);
}
