import { defaultMethods, type Method } from "@assay/contract/facts";
import type { Core } from "../../platform/core.ts";
import type { Operator } from "../evidence/kind.ts";
import { findCurrentIdentity } from "../wallet-identity/wallet-identity.store.ts";
import { availableMethods } from "./ways.ts";

/** What the operator has set up for a session. The sandbox creates its identity and needs no registration. */
export async function operatorOf(
  { db, clock, config }: Pick<Core, "db" | "clock" | "config">,
  { sandbox, methods }: { sandbox: boolean; methods: readonly Method[] | null },
): Promise<Operator> {
  const available = availableMethods(config, { sandbox });
  const isSigned = (methods ?? defaultMethods).some((method) => !defaultMethods.includes(method));
  if (sandbox || !isSigned) return { methods: available, registration: [] };
  const identity = await findCurrentIdentity(db, "live", clock.now());
  return { methods: available, registration: identity?.registration ?? null };
}
