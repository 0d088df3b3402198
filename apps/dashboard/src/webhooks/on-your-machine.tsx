import { Code } from "../ui/code.tsx";
import { Card } from "../ui/page.tsx";
import { keyVariable } from "../ui/request-code.ts";

/** For developers without a public address, which is the usual case at first. */
export function OnYourMachine() {
  return (
    <Card title="On your own machine">
      <p className="mb-3">
        This service sends only to addresses on the public internet, so a server on your own machine cannot be
        an endpoint. To see events there while you build, let this command listen. It prints every event of
        the organization, decrypted, until you stop it.
      </p>
      <Code
        label="Command"
        text={`npx ${window.location.origin}/cli.tgz listen --url ${window.location.origin} --key "$${keyVariable}"`}
      />
    </Card>
  );
}
