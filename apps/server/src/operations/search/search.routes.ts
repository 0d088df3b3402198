import { search } from "@assay/contract/search";
import type { Core } from "../../platform/core.ts";
import { type Binding, bind } from "../../platform/http/mount.ts";
import { findThings } from "./find-things.ts";

export function searchRoutes(core: Core): Binding[] {
  return [
    bind(search, async ({ caller, query }) => ({
      found: await findThings(core, caller, query),
    })),
  ];
}
