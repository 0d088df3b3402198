import type { Status } from "./api.ts";

type Planned = Pick<Status, "steps">;

/** The step in which a wallet is asked. It takes the place of all others. */
export const walletStep = "wallet";

/** In place of the steps that follow, until the person has chosen between several ways. */
export const chooseStep = "choose";

/**
 * What a person goes through: they agree, do the steps of the session, and are done. The partner's page gets the same names. Where a
 * wallet is one of several ways, these are the steps of the way that the current step belongs to, or that has led somewhere.
 */
export function stepsOf(status: Planned, current: string | null): readonly string[] {
  if (current === chooseStep) return ["consent", chooseStep, "done"];
  const steps = planned(status);
  const { name: decisive } =
    steps.find(({ name }) => name === current) ?? steps.find(({ passed }) => passed) ?? steps[0] ?? {};
  const shown = steps.filter(({ name }) => (name === walletStep) === (decisive === walletStep));
  return ["consent", ...shown.map(({ name }) => name), "done"];
}

/** Whether the session ended because no presentation of a wallet was accepted. */
export function hasWalletFailed(status: Planned): boolean {
  return planned(status).some(({ name, tries_left: left }) => name === walletStep && left === 0);
}

/** Whether the session is at a wallet, in this browser or in another. */
export function isAtWallet({ attempt }: Pick<Status, "attempt">): boolean {
  return attempt?.step?.startsWith(walletStep) ?? false;
}

/** The step that a phase of the reading device belongs to: its name is the beginning of the phase's. The first one before a device has connected. */
export function stepOfPhase(status: Planned, phase: string | null): Status["steps"][number] | null {
  const steps = planned(status);
  return steps.find(({ name }) => phase === name || phase?.startsWith(`${name}_`)) ?? steps[0] ?? null;
}

/** A process of the release before, which may answer during an update, does not say them. */
export function planned({ steps }: Partial<Planned>): Status["steps"] {
  return steps ?? [];
}
