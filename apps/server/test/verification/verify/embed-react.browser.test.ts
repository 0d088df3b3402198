import { join } from "node:path";
import test from "node:test";
import { checkWrapper } from "../../support/embed-wrapper.ts";

test("the component for React shows one frame, reports the end of the session, and takes the frame with it", () =>
  checkWrapper("react.tsx", join(import.meta.dirname, "../../../../../node_modules")));
