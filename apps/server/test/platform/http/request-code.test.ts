import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import { presets } from "@assay/contract/presets";
import { presetBody } from "../../../../dashboard/src/sessions/session-body.ts";
import { type CodeLanguage, keyVariable, requestCode } from "../../../../dashboard/src/ui/request-code.ts";
import { createPartner, expectData } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";

const { url, api } = await startTestService();
const partner = await createPartner(api);
const run = promisify(execFile);

/** How each language is run, each from a file. */
const runners: Record<CodeLanguage, { command: string; file: string; needs: string }> = {
  curl: { command: "sh", file: "request.sh", needs: "curl" },
  typescript: { command: process.execPath, file: "request.mts", needs: process.execPath },
  python: { command: "python3", file: "request.py", needs: "python3" },
};

async function isThere(command: string): Promise<boolean> {
  return run(command, ["--version"]).then(
    () => true,
    () => false,
  );
}

/** Everything that a shell, a template or a string could take for something else. */
const nasty = `It's "quoted", $HOME \`id\` \\n \${x} %s 😀 {y} 'end`;

for (const language of ["curl", "typescript", "python"] as const)
  test(`what is copied as ${language} creates the session that the page shows, and holds no key`, async (t) => {
    const { command, file, needs } = runners[language];
    if (!(await isThere(needs))) return t.skip(`there is no ${needs}`);
    const folder = await mkdtemp(join(tmpdir(), "assay-code-"));
    t.after(() => rm(folder, { recursive: true }));
    for (const preset of presets) {
      const body = { ...presetBody(preset), client_reference_id: nasty, metadata: { a: nasty } };
      const code = requestCode(language, { url: `${url}/v1/sessions`, body });
      assert.ok(!code.includes(partner.key.secret) && code.includes(keyVariable));
      await writeFile(join(folder, file), code);
      await run(command, [file], {
        cwd: folder,
        env: { ...process.env, [keyVariable]: partner.key.secret, NODE_NO_WARNINGS: "1" },
      });
      const [session] = expectData<any[]>(await partner.api.get("/v1/sessions", { limit: 1 }));
      assert.equal(session.client_reference_id, nasty);
      assert.deepEqual(session.metadata, { a: nasty });
      for (const [key, field] of Object.entries(body.share_fields ?? {})) {
        const { required, reason } = session.share_fields[key];
        assert.deepEqual({ required, reason }, field, key);
      }
    }
    const sessions = expectData<any[]>(await partner.api.get("/v1/sessions", { limit: 100 }));
    assert.equal(sessions.length % presets.length, 0, "each of them once");
  });
