import { testTarget } from "../../../scripts/fuzz/test-target.ts";
import { chipTarget } from "./readers.ts";

testTarget(chipTarget, 100);
