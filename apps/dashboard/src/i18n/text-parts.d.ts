/** Cut out of a file of texts by the build (`text-parts.ts`). */
declare module "*.json?first" {
  const texts: object;
  // biome-ignore lint/style/noDefaultExport: a JSON module has nothing else.
  export default texts;
}

declare module "*.json?later" {
  const texts: object;
  // biome-ignore lint/style/noDefaultExport: a JSON module has nothing else.
  export default texts;
}
