import type { Evidence, Session, WalletEvidence } from "@assay/contract/sessions";
import type { Static } from "typebox";
import { t } from "../i18n/words.ts";
import { Badge, Facts } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { Warning } from "./warning.tsx";

type OneSession = Static<typeof Session>;

export function demandFacts({ requirements }: Pick<OneSession, "requirements">) {
  const { requirement, required, ifSupported, otherDevice } = t.sessions;
  const demandTexts = { required, preferred: ifSupported };
  const bindingTexts = { required, preferred: otherDevice };
  return [
    [requirement.clone_detection, demandTexts[requirements.clone_detection]],
    [requirement.revocation, demandTexts[requirements.revocation]],
    [requirement.binding, bindingTexts[requirements.binding]],
  ] as const;
}

/** Why a document without a fault failed: a requirement that it does not meet. Null for every other end. */
export function unmetText({
  unmet_requirement: unmet,
}: Pick<OneSession, "unmet_requirement">): string | null {
  return unmet === null ? null : t.sessions.unmetText[unmet];
}

/** The evidence in words. */
export function EvidenceFacts({ evidence }: { evidence: Static<typeof Evidence> }) {
  if (evidence.method === "wallet") return <WalletFacts evidence={evidence} />;
  const { chip, revocation } = evidence;
  const words = t.sessions;
  return (
    <Facts
      facts={[
        [words.evidenceMethod, words.byChip],
        [
          words.chipName,
          <Found
            key="chip"
            look={chip === "genuine" ? "good" : "warn"}
            label={words.chip[chip]}
            text={words.chipText[chip]}
          />,
        ],
        [
          words.revocationName,
          <Found
            key="revocation"
            look={revocation === "checked" ? "good" : "warn"}
            label={words.revocation[revocation]}
            text={words.revocationText[revocation]}
          />,
        ],
        [words.face, <Found key="face" look="good" label={words.faceMatched} text={words.faceText} />],
        [
          words.exceptions,
          evidence.warnings.length === 0 ? (
            words.noExceptions
          ) : (
            <ul key="warnings" className="space-y-1">
              {evidence.warnings.map((code) => (
                <li key={code}>
                  <Warning code={code} /> <code className="font-mono text-small text-muted">{code}</code>
                </li>
              ))}
            </ul>
          ),
        ],
        [words.verified, <Time key="at" at={evidence.verified_at} />],
      ]}
    />
  );
}

function WalletFacts({ evidence }: { evidence: Static<typeof WalletEvidence> }) {
  const words = t.sessions;
  const warnings = evidence.warnings.map((code) => words.walletWarning[code]);
  return (
    <Facts
      facts={[
        [words.evidenceMethod, words.byWallet],
        [words.credential, words.credentials[evidence.credential]],
        [words.trustedBy, words.trust[evidence.trust]],
        [words.holder, words.holders[evidence.holder]],
        [words.revocationName, words.revocation[evidence.revocation]],
        [words.binding, words.bindings[evidence.binding]],
        [words.exceptions, warnings.length === 0 ? words.noExceptions : warnings.join(", ")],
        [words.verified, <Time key="at" at={evidence.verified_at} />],
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
