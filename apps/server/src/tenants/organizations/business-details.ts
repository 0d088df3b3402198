export type BusinessDetails = {
  type: "sole" | "business";
  name: string | null;
  jurisdiction: string | null;
  registrationNumber: string | null;
};

/** An absent field keeps its value; null or blank clears it. */
export function changedText(current: string | null, given: string | null | undefined): string | null {
  if (given === undefined) return current;
  const text = given?.trim() ?? "";
  return text === "" ? null : text;
}

/** A sole trader need not be in a register; a company must. */
export function isComplete(details: BusinessDetails): boolean {
  return (
    details.name !== null &&
    details.jurisdiction !== null &&
    (details.type === "sole" || details.registrationNumber !== null)
  );
}
