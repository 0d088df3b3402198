import { evidenceWarnings } from "@assay/contract/evidence-warnings";
import type { RequirementName } from "@assay/contract/facts";
import type { Evidence, Session, WalletEvidence } from "@assay/contract/sessions";
import type { Static } from "typebox";
import { inWords } from "../ui/filters.tsx";
import { Badge, Facts } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";

type OneSession = Static<typeof Session>;

export const requirementLabels: Record<RequirementName, string> = {
  clone_detection: "Clone detection",
  revocation: "Revocation check",
};

export const bindingLabel = "Same browser throughout";

const unmetTexts: Record<RequirementName, string> = {
  clone_detection: "The chip does not support clone detection.",
  revocation: "No current revocation list was available.",
};

const demandTexts = {
  required: "Required",
  preferred: "If supported",
} as const;

const bindingTexts = {
  required: "Required",
  preferred: "Another device allowed",
} as const;

const chips = {
  genuine: { look: "good", label: "Genuine", text: "The chip proved it is not a copy." },
  copy_not_excluded: {
    look: "warn",
    label: "Clone not ruled out",
    text: "The data is signed by the issuing state, but the chip does not support clone detection.",
  },
} as const;

const revocations = {
  checked: { look: "good", label: "Checked", text: "Not revoked (current list checked)." },
  stale: {
    look: "warn",
    label: "Stale",
    text: "Not revoked, but the list is out of date.",
  },
  no_list: { look: "warn", label: "No list", text: "No revocation list is available for this country." },
} as const;

export function demandFacts({ requirements }: Pick<OneSession, "requirements">) {
  return [
    [requirementLabels.clone_detection, demandTexts[requirements.clone_detection]],
    [requirementLabels.revocation, demandTexts[requirements.revocation]],
    [bindingLabel, bindingTexts[requirements.binding]],
  ] as const;
}

/** Why the document failed although nothing is wrong with it; null for every other end. */
export function unmetText({
  unmet_requirement: unmet,
}: Pick<OneSession, "unmet_requirement">): string | null {
  return unmet === null ? null : unmetTexts[unmet];
}

/** The evidence in words. */
export function EvidenceFacts({ evidence }: { evidence: Static<typeof Evidence> }) {
  if (evidence.method === "wallet") return <WalletFacts evidence={evidence} />;
  const [chip, revocation] = [chips[evidence.chip], revocations[evidence.revocation]];
  return (
    <Facts
      facts={[
        ["Method", "Chip read and verified, face matched to its portrait."],
        ["Chip", <Found key="chip" {...chip} />],
        ["Revocation", <Found key="revocation" {...revocation} />],
        ["Face", <Found key="face" look="good" label="Matched" text="Matches the portrait on the chip." />],
        [
          "Exceptions",
          evidence.warnings.length === 0 ? (
            "None"
          ) : (
            <ul key="warnings" className="space-y-1">
              {evidence.warnings.map((code) => (
                <li key={code}>
                  {evidenceWarnings[code]} <code className="font-mono text-small text-muted">{code}</code>
                </li>
              ))}
            </ul>
          ),
        ],
        ["Verified", <Time key="at" at={evidence.verified_at} />],
      ]}
    />
  );
}

function WalletFacts({ evidence }: { evidence: Static<typeof WalletEvidence> }) {
  return (
    <Facts
      facts={[
        ["Method", "Credential presented from a wallet."],
        ["Credential", inWords(evidence.credential)],
        ["Issuer trusted by", inWords(evidence.trust)],
        ["Holder", inWords(evidence.holder)],
        ["Revocation", inWords(evidence.revocation)],
        ["Binding", inWords(evidence.binding)],
        ["Exceptions", evidence.warnings.length === 0 ? "None" : evidence.warnings.map(inWords).join(", ")],
        ["Verified", <Time key="at" at={evidence.verified_at} />],
      ]}
    />
  );
}

function Found({ look, label, text }: { look: "good" | "warn"; label: string; text: string }) {
  return (
    <>
      <Badge look={look}>{label}</Badge> {text}
    </>
  );
}
