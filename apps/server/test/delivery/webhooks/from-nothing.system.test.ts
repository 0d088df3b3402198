import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import test, { after } from "node:test";
import { Api, createPartner } from "../../support/api.ts";
import { startAssay } from "../../support/process.ts";

/**
 * What a partner does with only the service's address and a key: an empty folder, packages and samples from
 * the service, a receiver of thirty lines. The command line completes a sandbox session. The last line is a
 * typed field of the decrypted event.
 */
const data = mkdtempSync(path.join(tmpdir(), "assay-from-nothing-data-"));
after(() => rmSync(data, { recursive: true, force: true }));
const { url, stop } = await startAssay({ DATA_DIR: data });
after(() => stop());
const compiler = new URL("../../../../../node_modules/typescript/bin/tsc", import.meta.url).pathname;
const nodeTypes = new URL("../../../../../node_modules/@types", import.meta.url).pathname;

type Language = {
  name: string;
  needs: readonly (readonly string[])[];
  files: Readonly<Record<string, string>>;
  /** Run one after the other by a shell in the folder; `$BASE` is the service. */
  steps: readonly string[];
  start: string;
};

const languages: readonly Language[] = [
  {
    name: "TypeScript",
    needs: [["npm", "view", "jose", "version"]],
    files: {
      "package.json": '{ "type": "module" }',
      "receiver.mts": `import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { webhook } from "@assay/webhook";

const { SECRET = "", KEY_FILE = "" } = process.env;
const open = webhook({ secrets: [SECRET], keys: [readFileSync(KEY_FILE, "utf8")] });
const server = createServer(async (request, response) => {
  const event = await open(request.headers, await text(request));
  response.writeHead(204).end();
  // Without this question \`evidence\` does not compile.
  if (event.type === "verification.session.succeeded")
    console.log(event.data.claims.family_name, event.data.evidence.method);
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as { port: number }).port));
`,
    },
    steps: [
      'npm install --loglevel=error "$BASE/webhook.tgz"',
      `"$NODE" ${compiler} --ignoreConfig --strict --module nodenext --target es2022 --types node --typeRoots ${nodeTypes} --outDir built receiver.mts`,
    ],
    start: "exec node built/receiver.mjs",
  },
  {
    name: "Python",
    needs: [["python3", "-m", "pip", "index", "versions", "cryptography"]],
    files: {
      "receiver.py": `import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from assay_webhook import webhook

with open(os.environ["KEY_FILE"]) as file:
    open_delivery = webhook(secrets=[os.environ["SECRET"]], keys=[file.read()])


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        event = open_delivery(self.headers, body)
        self.send_response(204)
        self.end_headers()
        if event["type"] == "verification.session.succeeded":
            print(event["data"]["claims"]["family_name"], event["data"]["evidence"]["method"], flush=True)


server = HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_address[1], flush=True)
server.serve_forever()
`,
    },
    steps: ["python3 -m venv environment", 'environment/bin/pip install --quiet "$BASE/webhook-python.tgz"'],
    start: "exec environment/bin/python receiver.py",
  },
  {
    name: "Go",
    needs: [["go", "version"]],
    files: {
      "go.mod": "module example.com/receiver\n\ngo 1.22\n",
      "receiver.go": `package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

type event struct {
	Type string
	Data struct {
		Claims   map[string]any
		Evidence struct{ Method string }
	}
}

func main() {
	key, err := os.ReadFile(os.Getenv("KEY_FILE"))
	if err != nil {
		panic(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	panic(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		text, err := openWebhook(r.Header.Get("X-Service-Signature"), string(body), os.Getenv("SECRET"), key)
		var opened event
		if err != nil || json.Unmarshal([]byte(text), &opened) != nil {
			w.WriteHeader(400)
			return
		}
		w.WriteHeader(204)
		if opened.Type == "verification.session.succeeded" {
			fmt.Println(opened.Data.Claims["family_name"], opened.Data.Evidence.Method)
		}
	})))
}
`,
    },
    // The sample is a block of the guide that the service hands out.
    steps: [
      `curl -sS "$BASE/docs/webhook-samples.md" | awk '/^\`\`\`go tab$/ { on = 1; next } /^\`\`\`$/ { if (on) exit } on' > open_webhook.go`,
      "go build -o receiver .",
    ],
    start: "exec ./receiver",
  },
];

for (const { name, needs, files, steps, start } of languages)
  test(`from an empty folder, the address of the service and a key to a decrypted event in ${name}`, async (context) => {
    const lacking = needs.find(
      ([program = "", ...args]) => spawnSync(program, args, { stdio: "ignore" }).status !== 0,
    );
    if (lacking !== undefined) return context.skip(`\`${lacking.join(" ")}\` does not work on this machine`);
    const { key } = await createPartner(new Api(url));
    const folder = mkdtempSync(path.join(tmpdir(), "assay-from-nothing-"));
    const children: ChildProcess[] = [];
    after(() => {
      for (const child of children) child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    });
    // The user's environment with proxy and authorities, without npm's variables for this project.
    const own = Object.entries(process.env).filter(([variable]) => !/^npm_/i.test(variable));
    const env = {
      ...Object.fromEntries(own),
      ...{ BASE: url, ASSAY_URL: url, ASSAY_API_KEY: key.secret, ASSAY_STATE_DIR: folder },
      ...{ NODE: process.execPath, npm_config_cache: path.join(folder, "cache") },
    };
    const shell = (command: string, more: Record<string, string> = {}) => {
      const child = spawn("sh", ["-euc", command], {
        cwd: folder,
        env: { ...env, ...more },
        stdio: ["ignore", "pipe", "inherit"],
      });
      children.push(child);
      return { child, lines: createInterface(child.stdout)[Symbol.asyncIterator]() };
    };
    const line = async ({ lines }: ReturnType<typeof shell>) => String((await lines.next()).value);
    const toEnd = async (command: string) => {
      const run = shell(command);
      const ended = once(run.child, "close");
      const first = await line(run);
      assert.equal((await ended)[0], 0, command);
      return first;
    };

    for (const [file, text] of Object.entries(files)) writeFileSync(path.join(folder, file), text);
    for (const step of steps) await toEnd(step);
    const asked = await toEnd('npx --yes "$BASE/cli.tgz" listen --print-secret --json');
    const { signing_secret: secret, private_key_file: file } = JSON.parse(asked);
    const receiver = shell(start, { SECRET: secret, KEY_FILE: file });
    const port = await line(receiver);
    const listener = shell(`exec npx --yes "$BASE/cli.tgz" listen --forward-to localhost:${port} --json`);
    assert.equal(JSON.parse(await line(listener)).type, "ready");
    await toEnd('npx --yes "$BASE/cli.tgz" trigger verification.session.succeeded');
    assert.match(await line(receiver), /^[A-Z]+ chip_and_face$/);
    assert.equal(JSON.parse(await line(listener)).status, "succeeded");
    const ended = once(listener.child, "close");
    listener.child.kill("SIGTERM");
    await ended;
    receiver.child.kill("SIGTERM");
  });
