/** `12,345`. By hand: the browser's own way loads tables of every language first, and a page may show a hundred counts. */
export function countText(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `47%`, and `0.4%` where a whole number would say nothing. */
export function percentText(share: number): string {
  return `${Number((100 * share).toFixed(share < 0.1 ? 1 : 0))}%`;
}
