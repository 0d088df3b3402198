export type BusinessDetails = {
  type: "sole" | "business";
  name: string | null;
  jurisdiction: string | null;
  registrationNumber: string | null;
};

/** Omitted keeps, null or blank clears. */
export function changedText(current: string | null, given: string | null | undefined): string | null {
  if (given === undefined) return current;
  const text = given?.trim() ?? "";
  return text === "" ? null : text;
}

/** A sole trader need not be in a register; a company is. */
export function isComplete(details: BusinessDetails): boolean {
  return (
    details.name !== null &&
    details.jurisdiction !== null &&
    (details.type === "sole" || details.registrationNumber !== null)
  );
}
