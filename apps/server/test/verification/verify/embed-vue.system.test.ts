import test from "node:test";
import { checkWrapper } from "../../support/embed-wrapper.ts";
import { installNpmFrameworks } from "../../support/framework-packages.ts";

test("the component for Vue shows one frame, reports the end of the session, and takes the frame with it", async (context) => {
  const packages = await installNpmFrameworks();
  if (packages === null) return context.skip("npm could not install Vue");
  await checkWrapper("vue.js", packages);
});
