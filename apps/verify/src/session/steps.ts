import type { Status } from "./api.ts";

type Planned = Pick<Status, "steps">;

/** The step in which a wallet is asked. It takes the place of all others. */
export const walletStep = "wallet";

/** In place of the steps that follow, until the person has chosen between several ways. */
export const chooseStep = "choose";

/**
 * The steps of a person: consent, the steps of the session, and the end. The partner's page gets the same
 * names. With several ways, these are the steps of the way of the current step, or of the one that succeeded.
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

/**
 * The step of a reading device's phase: its name is the prefix of the phase's.
 * Before a device connects, the first.
 */
export function stepOfPhase(status: Planned, phase: string | null): Status["steps"][number] | null {
  const steps = planned(status);
  return steps.find(({ name }) => phase === name || phase?.startsWith(`${name}_`)) ?? steps[0] ?? null;
}

/** A process of the release before, which may answer during an update, does not say them. */
export function planned({ steps }: Partial<Planned>): Status["steps"] {
  return steps ?? [];
}
