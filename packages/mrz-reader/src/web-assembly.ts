/** The part of WebAssembly that the reader uses. The type libraries shared by page and service lack it. */
export type WasmMemory = { readonly buffer: ArrayBuffer; grow(pages: number): number };

type WasmApi = {
  readonly Memory: new (limits: { readonly initial: number; readonly maximum: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (
    module: object,
    imports: Readonly<Record<string, Readonly<Record<string, WasmMemory>>>>,
  ) => { readonly exports: unknown };
};

/** Null where its owner switched it off. */
export const webAssembly: WasmApi | null =
  (globalThis as unknown as { readonly WebAssembly?: WasmApi }).WebAssembly ?? null;
