import { evidenceWarnings } from "@assay/contract/evidence-warnings";
import type { RequirementName } from "@assay/contract/facts";
import type { Evidence, Session, WalletEvidence } from "@assay/contract/sessions";
import type { Static } from "typebox";
import { inWords } from "../ui/filters.tsx";
import { Badge, Facts } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";

type OneSession = Static<typeof Session>;

export const requirementLabels: Record<RequirementName, string> = {
  clone_detection: "The chip proves that it is no copy",
  revocation: "A fresh revocation list was looked at",
};

export const bindingLabel = "One browser opens, agrees and reads";

const unmetTexts: Record<RequirementName, string> = {
  clone_detection: "The chip offers no proof that it is no copy, and you require one.",
  revocation: "There was no fresh revocation list of the state, and you require one.",
};

const demandTexts = {
  required: "Required: a document that cannot do it fails",
  preferred: "Preferred: done where the document allows it",
} as const;

const bindingTexts = {
  required: "Required: no second device or browser",
  preferred: "Preferred: a second device may read",
} as const;

const chips = {
  genuine: { look: "good", label: "Genuine", text: "It proved that it is the original." },
  copy_not_excluded: {
    look: "warn",
    label: "Copy not excluded",
    text: "The state signed the data; the document offers no proof that its chip is no copy.",
  },
} as const;

const revocations = {
  checked: { look: "good", label: "Checked", text: "A fresh list of the state does not name the signer." },
  stale: {
    look: "warn",
    label: "Stale",
    text: "The newest list is past its time; it does not name the signer.",
  },
  no_list: { look: "warn", label: "No list", text: "There was no list of the state that counts." },
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

/** What the success rests on, in words. */
export function EvidenceFacts({ evidence }: { evidence: Static<typeof Evidence> }) {
  if (evidence.method === "wallet") return <WalletFacts evidence={evidence} />;
  const [chip, revocation] = [chips[evidence.chip], revocations[evidence.revocation]];
  return (
    <Facts
      facts={[
        ["How", "The chip was read and checked, and a living face was compared with its portrait."],
        ["Chip", <Found key="chip" {...chip} />],
        ["Revocation", <Found key="revocation" {...revocation} />],
        ["Face", <Found key="face" look="good" label="Matched" text="It is the one in the portrait." />],
        [
          "Tolerated",
          evidence.warnings.length === 0 ? (
            "Nothing"
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
        ["How", "A credential was presented from a wallet."],
        ["Credential", inWords(evidence.credential)],
        ["Issuer named by", inWords(evidence.trust)],
        ["Holder", inWords(evidence.holder)],
        ["Revocation", inWords(evidence.revocation)],
        ["Binding", inWords(evidence.binding)],
        ["Tolerated", evidence.warnings.length === 0 ? "Nothing" : evidence.warnings.map(inWords).join(", ")],
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
