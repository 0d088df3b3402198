/**
 * Remembers what encodings were read as that nearly all documents share: identifiers, parameters of algorithms, curves.
 * It is asked with a place in the bytes at hand, so that looking up makes nothing. What it holds is bounded in number
 * and size, since anybody can make up encodings.
 */
export class EncodingMemo<T> {
  readonly #entries = new Map<number, { readonly encoded: Uint8Array; readonly value: T }>();
  readonly #maxEntries: number;
  readonly #maxBytes: number;

  constructor({ maxEntries, maxBytes }: { readonly maxEntries: number; readonly maxBytes: number }) {
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
  }

  get(bytes: Uint8Array, start: number, end: number): T | null {
    const length = end - start;
    if (length > this.#maxBytes) return null;
    const entry = this.#entries.get(mixed(bytes, start, end));
    if (entry === undefined || entry.encoded.length !== length) return null;
    const { encoded } = entry;
    for (let index = 0; index < length; index++) if (encoded[index] !== bytes[start + index]) return null;
    return entry.value;
  }

  /** Two that mix to the same number take turns; the oldest goes when there are too many. */
  set(bytes: Uint8Array, start: number, end: number, value: T): void {
    if (end - start > this.#maxBytes) return;
    const [oldest] = this.#entries.keys();
    if (this.#entries.size >= this.#maxEntries && oldest !== undefined) this.#entries.delete(oldest);
    // Not by `slice`, which leaves a Buffer's memory shared with whoever writes into it next.
    const encoded = new Uint8Array(bytes.subarray(start, end));
    this.#entries.set(mixed(bytes, start, end), { encoded, value });
  }
}

function mixed(bytes: Uint8Array, start: number, end: number): number {
  let sum = end - start;
  for (let offset = start; offset < end; offset++) sum = (Math.imul(sum, 31) + (bytes[offset] ?? 0)) | 0;
  return sum;
}
