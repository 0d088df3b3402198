import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { pathToFileURL } from "node:url";
import { createPartner, expectData } from "../support/api.ts";
import { createAuthority } from "../support/certificate.ts";
import { createReceivingEndpoint, partnerKeys, startReceiver } from "../support/receiver.ts";
import { startTestService } from "../support/service.ts";
import { syntaxProblems } from "../support/syntax.ts";

const root = join(import.meta.dirname, "../../../..");
const guide = readFileSync(join(root, "docs/webhooks.md"), "utf8");
// Inside the project, so that the examples find the same packages as a partner who installed them.
const folder = mkdtempSync(join(root, "node_modules/.guide-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** The example of the guide that begins with a comment that names its file. */
async function example(name: string): Promise<Record<string, any>> {
  const blocks = [...guide.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code ?? "");
  const code = blocks.find((block) => block.startsWith(`// ${name}`));
  assert.ok(code, `the guide has ${name}`);
  const path = join(folder, name);
  writeFileSync(path, code);
  return import(pathToFileURL(path).href);
}

const authority = createAuthority();
const { api, clock, runJob } = await startTestService({
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
  webhooks: { ca: authority.certificate },
});
clock.set(new Date());
const receiver = await startReceiver(authority);
const partner = await createPartner(api);
const endpoint = await createReceivingEndpoint(partner.api, receiver.url);
const { privateKey } = partnerKeys();

/** What the service sends to the partner's server. */
async function receive() {
  expectData(await partner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/test`), 202);
  await runJob("deliver-webhooks");
  const request = receiver.received.at(-1);
  assert.ok(request);
  return request;
}

test("the examples of the guide verify and open what the service sends, and refuse what was tampered with", async () => {
  const request = await receive();
  const { openWebhook } = await import(join(root, "examples/webhooks/open-webhook.mjs"));
  const { openWithLibraries } = await example("with-libraries.mjs");
  const event = openWebhook(request.headers, request.body, endpoint.secret, privateKey);
  assert.equal(event.type, "webhook.endpoint.test");
  assert.deepEqual(event.data, { webhook_endpoint_id: endpoint.id });
  assert.deepEqual(
    await openWithLibraries(request.headers, request.body, endpoint.secret, privateKey),
    event,
  );

  const tampered = request.body.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
  assert.throws(() => openWebhook(request.headers, tampered, endpoint.secret, privateKey), /wrong signature/);
  assert.throws(() => openWebhook(request.headers, request.body, "whsec_x", privateKey), /wrong signature/);
  assert.throws(() => openWebhook({}, request.body, endpoint.secret, privateKey), /no signature/);
  const tooLate = Date.now() / 1000 + 301;
  assert.throws(
    () => openWebhook(request.headers, request.body, endpoint.secret, privateKey, tooLate),
    /too old/,
  );
});

/** How each sample is run: the signature, the secret and the file of the key come as arguments, the body through stdin. */
const languages: readonly {
  name: string;
  file: string;
  /** By which its text is checked on every machine, whether or not it can be run there. */
  grammar: string;
  driver: [file: string, text: string];
  needs: readonly string[][];
  build?: readonly string[];
  run: readonly string[];
}[] = [
  {
    name: "TypeScript",
    file: "open-webhook.ts",
    grammar: "typescript",
    driver: [
      "run.ts",
      `import { readFileSync } from "node:fs";
import { openWebhook } from "./open-webhook.ts";
const [signature = "", secret = "", file = ""] = process.argv.slice(2);
console.log(openWebhook(signature, readFileSync(0, "utf8"), secret, readFileSync(file, "utf8")));
`,
    ],
    needs: [],
    run: [process.execPath, "run.ts"],
  },
  {
    name: "Python",
    file: "open_webhook.py",
    grammar: "python",
    driver: [
      "run.py",
      `import sys
from open_webhook import open_webhook
print(open_webhook(sys.argv[1], sys.stdin.read(), sys.argv[2], open(sys.argv[3], "rb").read()))
`,
    ],
    needs: [["python3", "-c", "import cryptography"]],
    run: ["python3", "run.py"],
  },
  {
    name: "Go",
    file: "open_webhook.go",
    grammar: "go",
    driver: [
      "run.go",
      `package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	body, _ := io.ReadAll(os.Stdin)
	key, _ := os.ReadFile(os.Args[3])
	text, err := openWebhook(os.Args[1], string(body), os.Args[2], key)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(text)
}
`,
    ],
    needs: [["go", "version"]],
    build: ["go", "build", "-o", "run", "open_webhook.go", "run.go"],
    run: ["./run"],
  },
  {
    name: "Java",
    file: "OpenWebhook.java",
    grammar: "java",
    driver: [
      "Run.java",
      `import java.nio.file.*;
class Run {
  public static void main(String[] args) throws Exception {
    String body = new String(System.in.readAllBytes());
    System.out.println(OpenWebhook.openWebhook(args[0], body, args[1], Files.readString(Path.of(args[2]))));
  }
}
`,
    ],
    needs: [["javac", "-version"]],
    build: ["javac", "OpenWebhook.java", "Run.java"],
    run: ["java", "Run"],
  },
  {
    name: "PHP",
    file: "open_webhook.php",
    grammar: "php",
    driver: [
      "run.php",
      `<?php
require __DIR__ . "/open_webhook.php";
echo open_webhook($argv[1], stream_get_contents(STDIN), $argv[2], file_get_contents($argv[3]));
`,
    ],
    needs: [["php", "-r", "exit(extension_loaded('openssl') ? 0 : 1);"]],
    run: ["php", "run.php"],
  },
  {
    name: "Ruby",
    file: "open_webhook.rb",
    grammar: "ruby",
    driver: [
      "run.rb",
      `require_relative "open_webhook"
puts open_webhook(ARGV[0], $stdin.read, ARGV[1], File.read(ARGV[2]))
`,
    ],
    needs: [["ruby", "-e", "require 'openssl'"]],
    run: ["ruby", "run.rb"],
  },
  {
    name: "C#",
    file: "OpenWebhook.cs",
    grammar: "c-sharp",
    driver: [
      "Run.cs",
      `using System.IO;
Console.WriteLine(Webhook.Open(args[0], Console.In.ReadToEnd(), args[1], File.ReadAllText(args[2])));
`,
    ],
    needs: [["dotnet", "--version"]],
    build: ["sh", "-c", "dotnet new console --force -o . && rm Program.cs && dotnet build -o built"],
    run: ["sh", "-c", 'exec dotnet built/*.dll "$@"', "run"],
  },
];

test("every sample is a text of its language, also where nothing on this machine can run it", async () => {
  for (const { name, file, grammar, driver } of languages) {
    const text = readFileSync(join(root, "examples/webhooks", file), "utf8");
    assert.deepEqual(await syntaxProblems(grammar, text), [], name);
    assert.deepEqual(await syntaxProblems(grammar, driver[1]), [], name);
    // What the check is worth: a bracket that is missing is noticed in each of them.
    const broken = text.replace(/\)(?=[^)]*$)/, "");
    assert.notDeepEqual(await syntaxProblems(grammar, broken), [], `${name}, broken`);
  }
});

for (const { name, file, driver, needs, build, run } of languages) {
  const lacking = needs.find(
    ([command = "", ...args]) => spawnSync(command, args, { stdio: "ignore" }).status !== 0,
  );
  test(`the sample in ${name} opens what the service sends, and refuses a body that was changed`, {
    skip: lacking === undefined ? false : `${lacking.join(" ")} does not work on this machine`,
  }, async () => {
    const place = mkdtempSync(join(tmpdir(), "assay-sample-"));
    after(() => rmSync(place, { recursive: true, force: true }));
    cpSync(join(root, "examples/webhooks", file), join(place, file));
    writeFileSync(join(place, driver[0]), driver[1]);
    const keyFile = join(place, "key.pem");
    writeFileSync(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }));
    const start = ([command = "", ...args]: readonly string[], input: string) =>
      spawnSync(command, args, { cwd: place, input, encoding: "utf8" });
    if (build !== undefined) assert.equal(start(build, "").status, 0, start(build, "").stderr);
    const { headers, body } = await receive();
    const open = (text: string) =>
      start([...run, String(headers["x-service-signature"]), endpoint.secret, keyFile], text);
    const { stdout, stderr } = open(body);
    assert.equal(JSON.parse(stdout || JSON.stringify(stderr)).type, "webhook.endpoint.test");
    const refused = open(body.replace(/.$/, (last) => (last === "A" ? "B" : "A")));
    assert.notEqual(refused.status, 0);
    assert.match(refused.stderr + refused.stdout, /wrong signature/);
  });
}
