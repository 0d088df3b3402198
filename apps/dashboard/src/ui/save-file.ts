/** Offers a file for saving. */
export function saveFile(name: string, type: string, parts: readonly string[]): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has read the text by then, so the page can release it.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
