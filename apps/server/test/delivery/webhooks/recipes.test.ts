import { join } from "node:path";
import test from "node:test";
import { checkRecipe, nodeRecipe, startRecipeService } from "../../support/recipes.ts";

const service = await startRecipeService();
// Inside the project, so that the recipe finds the same packages as a partner who installed them.
const packages = join(import.meta.dirname, "../../../../../node_modules");

test("the recipe for Fastify handles each event once, takes both secrets of a rotation, and refuses everything else", () =>
  checkRecipe(nodeRecipe("fastify"), service, packages));
