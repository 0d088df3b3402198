/**
 * The signatures that credentials and their certificates may have, with the identifiers of RFC 9053. The last
 * is that of RFC 9864, which names the curve as well.
 */
export const ecAlgorithms = {
  ES256: { curve: "P-256", hash: "SHA-256", coordinateBytes: 32, coseCurve: 1, cose: -7, coseOnCurve: -9 },
  ES384: { curve: "P-384", hash: "SHA-384", coordinateBytes: 48, coseCurve: 2, cose: -35, coseOnCurve: -51 },
  ES512: { curve: "P-521", hash: "SHA-512", coordinateBytes: 66, coseCurve: 3, cose: -36, coseOnCurve: -52 },
} as const;

export type EcAlgorithm = keyof typeof ecAlgorithms;
type EcParameters = (typeof ecAlgorithms)[EcAlgorithm];

export function findEcAlgorithm(isMeant: (parameters: EcParameters) => boolean): EcAlgorithm | null {
  const names = Object.keys(ecAlgorithms) as EcAlgorithm[];
  return names.find((name) => isMeant(ecAlgorithms[name])) ?? null;
}
