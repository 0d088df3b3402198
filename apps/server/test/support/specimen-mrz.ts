import { buildMrz, type MrzContent } from "@assay/emrtd/mrz/build-mrz";

/** The passport of Doc 9303, valid until 2031. */
export const specimen: MrzContent = {
  format: "TD3",
  documentCode: "P",
  issuingState: "UTO",
  nationality: "UTO",
  documentNumber: "L898902C3",
  dateOfBirth: "740812",
  dateOfExpiry: "310415",
  sex: "F",
  primaryName: "Eriksson",
};

export function specimenLines(changes: Partial<MrzContent> = {}): readonly string[] {
  return buildMrz({ ...specimen, ...changes });
}
