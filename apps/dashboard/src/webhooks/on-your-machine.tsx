import { Code } from "../ui/code.tsx";
import { Card } from "../ui/page.tsx";
import { keyVariable } from "../ui/request-code.ts";

/** For developers without a public address, which is the usual case at first. */
export function OnYourMachine() {
  return (
    <Card title="Local development">
      <p className="mb-3">
        Webhooks can't reach a server on your own machine. This command receives every event of the
        organization instead and prints it decrypted, until you stop it.
      </p>
      <Code
        label="Command"
        text={`npx ${window.location.origin}/cli.tgz listen --url ${window.location.origin} --key "$${keyVariable}"`}
      />
    </Card>
  );
}
