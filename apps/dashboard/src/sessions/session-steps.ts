import type { DataOf } from "@assay/contract/route";
import type { readTimeline, SessionWithConsent } from "@assay/contract/sessions";
import type { Static } from "typebox";

type Method = "chip_and_face" | "wallet";
type SessionProgress = Pick<
  Static<typeof SessionWithConsent>,
  "status" | "methods" | "consent" | "nfc_tries_used" | "liveness_tries_used"
> & { evidence: { method: Method; verified_at: string } | null };

export type StepState = "done" | "now" | "failed" | "open";
type StepName = "opened" | "agreed" | "chip" | "face" | "wallet" | "evidence";
export type SessionStep = { name: StepName; state: StepState; at: string | null; tries: number };

type Known = { name: StepName; done: boolean; at?: string | null; tries?: number };

/**
 * The steps between creation and end, and the person's progress. A finished step implies those before it.
 * `times` is null until it is loaded.
 */
export function sessionSteps(
  session: SessionProgress,
  times: DataOf<typeof readTimeline> | null,
): SessionStep[] {
  const { status, consent, evidence } = session;
  const openedAt = times?.opened_at ?? null;
  const passedAt = (step: string) => times?.steps.find(({ name }) => name === step)?.passed_at ?? null;
  const known: Known[] = [
    { name: "opened", done: status === "in_progress" || openedAt !== null, at: openedAt },
    { name: "agreed", done: consent !== null || triesOf(session) > 0, at: consent?.given_at ?? null },
    ...evidenceSteps(session, passedAt),
  ];
  const isOpen = status === "created" || status === "in_progress";
  const next = status === "succeeded" ? known.length : known.findLastIndex(({ done }) => done) + 1;
  const stateOf = (index: number): StepState => {
    if (index < next) return "done";
    if (index > next) return "open";
    if (status === "failed") return "failed";
    return isOpen && index > 0 ? "now" : "open";
  };
  return known.map(({ name, at = null, tries = 0 }, index) => {
    const isLast = index === known.length - 1;
    return { name, state: stateOf(index), at: isLast ? (evidence?.verified_at ?? null) : at, tries };
  });
}

function triesOf({ nfc_tries_used, liveness_tries_used }: SessionProgress): number {
  return nfc_tries_used + liveness_tries_used;
}

/** The steps of the person's method. Until it is known, one step stands for all methods. */
function evidenceSteps(session: SessionProgress, passedAt: (step: string) => string | null): Known[] {
  switch (methodOf(session)) {
    case "chip_and_face":
      return [
        {
          name: "chip",
          done: session.liveness_tries_used > 0 || passedAt("chip") !== null,
          at: passedAt("chip"),
          tries: session.nfc_tries_used,
        },
        { name: "face", done: false, tries: session.liveness_tries_used },
      ];
    case "wallet":
      return [{ name: "wallet", done: false }];
    case null:
      return [{ name: "evidence", done: false }];
  }
}

function methodOf(session: SessionProgress): Method | null {
  if (session.evidence !== null) return session.evidence.method;
  if (triesOf(session) > 0) return "chip_and_face";
  const methods = new Set(
    session.methods.map((method) => (method === "document_chip" ? "chip_and_face" : "wallet")),
  );
  const [only] = methods;
  return only === undefined || methods.size > 1 ? null : only;
}
