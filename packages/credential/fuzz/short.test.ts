import { testTarget } from "../../../scripts/fuzz/test-target.ts";
import { walletTarget } from "./readers.ts";

testTarget(walletTarget, 100);
