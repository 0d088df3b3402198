import { testTarget } from "../../../scripts/fuzz/test-target.ts";
import { mrzTarget } from "./readers.ts";

testTarget(mrzTarget, 60);
