import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPartner, expectData } from "./api.ts";
import { createAuthority } from "./certificate.ts";
import { createReceivingEndpoint, partnerKeys, startReceiver } from "./receiver.ts";
import { startTestService } from "./service.ts";

/** Where the samples are that partners copy. */
export const samplesFolder = join(import.meta.dirname, "../../../../examples/webhooks");

/** How each sample is run: signature, secret and key file are arguments, the body comes through stdin. */
export type Sample = {
  name: string;
  file: string;
  /** The check of its text on every machine, even where it cannot be run. */
  grammar: string;
  driver: [file: string, text: string];
  needs: readonly string[][];
  build?: readonly string[];
  run: readonly string[];
};

export const samples: readonly Sample[] = [
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

/** A partner whose server receives real deliveries. */
export async function startSampleReceiver() {
  const authority = createAuthority();
  const { api, clock, runJob } = await startTestService({
    env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
    webhooks: { ca: authority.certificate },
  });
  clock.set(new Date());
  const receiver = await startReceiver(authority);
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, receiver.url);
  // During a rotation each delivery has two signatures, and the receiver has only the secret of the second.
  const overlapHours = 24;
  expectData(
    await partner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/signing-secret/rotate`, {
      overlap_hours: overlapHours,
    }),
  );
  const receive = async () => {
    expectData(await partner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/test`), 202);
    await runJob("deliver-webhooks");
    const request = receiver.received.at(-1);
    assert.ok(request);
    return request;
  };
  return { endpoint, privateKey: partnerKeys().privateKey, receive };
}

/** The sample opens a real delivery, and refuses it with its last character changed. */
export async function checkSample(
  { file, driver, build, run }: Sample,
  { endpoint, privateKey, receive }: Awaited<ReturnType<typeof startSampleReceiver>>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "assay-sample-"));
  try {
    cpSync(join(samplesFolder, file), join(folder, file));
    writeFileSync(join(folder, driver[0]), driver[1]);
    const keyFile = join(folder, "key.pem");
    writeFileSync(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }));
    const start = ([command = "", ...args]: readonly string[], input: string) =>
      spawnSync(command, args, { cwd: folder, input, encoding: "utf8" });
    if (build !== undefined) {
      const built = start(build, "");
      assert.equal(built.status, 0, built.stderr);
    }
    const { headers, body } = await receive();
    const open = (text: string) =>
      start([...run, String(headers["x-service-signature"]), endpoint.secret, keyFile], text);
    const { stdout, stderr } = open(body);
    assert.equal(JSON.parse(stdout || JSON.stringify(stderr)).type, "webhook.endpoint.test");
    const refused = open(body.replace(/.$/, (last) => (last === "A" ? "B" : "A")));
    assert.notEqual(refused.status, 0);
    assert.match(refused.stderr + refused.stdout, /wrong signature/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
