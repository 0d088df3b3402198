export function packagesOf(
  lock: { packages: Record<string, unknown> },
  workspace: string,
  isThere: (place: string) => boolean,
): string[];
export function collect(to: string, options: { embedded: boolean }): { packages: number; bytes: number };
export function sizeOf(folder: string): number;
