import { type EvidenceWarning, evidenceWarnings } from "@assay/contract/evidence-warnings";
import { useQuery } from "@tanstack/react-query";
import { intlTag } from "../i18n/words.ts";

type Words = Readonly<Record<EvidenceWarning, string>>;

/** Few documents have a warning, so its texts load with the first one. */
const files: Readonly<Record<string, () => Promise<{ default: Words }>>> = {
  de: () => import("../../warning-texts/de.json", { with: { type: "json" } }),
  fr: () => import("../../warning-texts/fr.json", { with: { type: "json" } }),
};

/** In English until the texts are loaded. */
export function Warning({ code }: { code: EvidenceWarning }) {
  const words = useQuery({
    queryKey: ["warnings"],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => (await files[intlTag]?.())?.default ?? evidenceWarnings,
  });
  return words.data === undefined ? <span lang="en">{evidenceWarnings[code]}</span> : words.data[code];
}
