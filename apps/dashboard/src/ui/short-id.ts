/** `vs_01k9z4…q7f2`: short enough for a row or a title; its end distinguishes it from others. */
export function shortId(id: string): string {
  if (id.length <= 20) return id;
  const prefix = /^[a-z]+_/.exec(id)?.[0] ?? "";
  return `${id.slice(0, prefix.length + 6)}…${id.slice(-4)}`;
}
