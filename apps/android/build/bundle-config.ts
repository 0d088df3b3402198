/**
 * BundleConfig.pb of an Android app bundle. Tools need only the version of bundletool whose format it is:
 * field 1 (bundletool) with field 2 (version), both of the wire type "length and bytes".
 */
export function bundleConfig(version = "1.17.2"): Uint8Array {
  const field = (number: number, bytes: Uint8Array) =>
    Uint8Array.of((number << 3) | 2, bytes.length, ...bytes);
  return field(1, field(2, new TextEncoder().encode(version)));
}
