import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { CommandError, runCommand } from "@assay/cli/command";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import { skipWithoutPcscd, startPcscd } from "../../../../../packages/emrtd/test/support/pcscd.ts";
import { readCommandAt } from "../../../src/operations/cli/read.command.ts";
import { TerminalClosed } from "../../../src/verification/desk-reader/terminal.ts";
import { createPartner, expectData } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";
import { agree } from "../../support/verify.ts";
import { testDocument } from "../../support/verify-device.ts";

const service = await startTestService();
const partner = await createPartner(service.api);
const skip = skipWithoutPcscd;

async function newSession(): Promise<{ id: string; verification_url: string }> {
  const shareFields = { date_of_birth: { required: true, reason: "We must know that you are of age." } };
  return expectData(await partner.api.post("/v1/sessions", { share_fields: shareFields }), 201);
}

const nameFolder = mkdtempSync(join(tmpdir(), "assay-desk-name-"));
after(() => rmSync(nameFolder, { recursive: true }));

/** A clerk at the terminal, who answers by the question. */
function clerk(answers: (question: string) => string) {
  return { ask: async (question: string) => answers(question) };
}

/** A desk with a passport on its reader. `read` runs the command there and inspects each printed line. */
async function deskWith(documentId: string, terminal: ReturnType<typeof clerk> | null = null) {
  const document = testDocument(documentId, service.clock.now());
  const chip = createVirtualChip({ files: document.files, ...document.chip });
  const daemon = await startPcscd();
  let inserted = await daemon.insert(chip);
  return {
    can: document.chip.can,
    read: async (
      verificationUrl: string,
      onLine: (line: string) => void = () => {},
      key: readonly string[] = ["--can", document.chip.can],
    ) => {
      const lines: string[] = [];
      const exitCode = await runCommand(
        [readCommandAt({ terminal, nameFolder })],
        ["read", ...key, "--session", verificationUrl, "--socket", daemon.socketPath],
        (line) => {
          lines.push(line);
          onLine(line);
        },
      );
      return { exitCode, lines };
    },
    slip: async () => {
      await inserted.close();
      inserted = await daemon.insert(chip);
    },
    stop: () => daemon.stop(),
  };
}

test("a partner's desk reads the document of a session, and the service judges it", { skip }, async () => {
  const desk = await deskWith("passport-valid");
  try {
    const session = await newSession();
    await agree(service.api, session.id);
    const { exitCode, lines } = await desk.read(session.verification_url);
    assert.match(lines[0] ?? "", /^Reader: Virtual PCD/);
    assert.deepEqual(
      lines.slice(1, 4).concat(lines.filter((line) => line === "chip passed")),
      ["consent", "handoff", "claim", "chip passed"],
      lines.join("\n"),
    );
    assert.ok(
      lines.includes("chip authentication"),
      "the service had the chip prove itself through the desk",
    );
    assert.equal(exitCode, 0, lines.join("\n"));
    const ended = expectData(await partner.api.get(`/v1/sessions/${session.id}`));
    assert.equal(ended.status, "succeeded");
    assert.equal(ended.nfc_tries_used, 1);
  } finally {
    await desk.stop();
  }
});

test("a document that slips off before it is read or during its proof costs no try", { skip }, async () => {
  const desk = await deskWith("passport-valid");
  try {
    for (const step of ["claim", "chip authentication"]) {
      const session = await newSession();
      await agree(service.api, session.id);
      let slipped: Promise<void> | undefined;
      const { exitCode, lines } = await desk.read(session.verification_url, (line) => {
        if (line === step) slipped ??= desk.slip();
      });
      await slipped;
      assert.ok(slipped !== undefined, lines.join("\n"));
      // Before it is read, the desk may see the empty reader first.
      const asked = step === "claim" ? /Put (it back|the document on)/ : /left the reader\. Put it back/;
      assert.match(lines.join("\n"), asked);
      assert.equal(exitCode, 0, lines.join("\n"));
      const ended = expectData(await partner.api.get(`/v1/sessions/${session.id}`));
      assert.deepEqual([ended.status, ended.nfc_tries_used], ["succeeded", 1]);
    }
  } finally {
    await desk.stop();
  }
});

test("a copied chip is refused by the service, not by the desk", { skip }, async () => {
  const desk = await deskWith("passport-cloned-chip-authentication");
  try {
    const session = await newSession();
    await agree(service.api, session.id);
    const { exitCode, lines } = await desk.read(session.verification_url);
    assert.equal(exitCode, 3);
    assert.equal(lines.at(-1), "Failed: document_chip_authentication_failed.");
    const ended = expectData(await partner.api.get(`/v1/sessions/${session.id}`));
    assert.deepEqual([ended.status, ended.nfc_tries_used], ["failed", 3]);
  } finally {
    await desk.stop();
  }
});

test("the desk cannot agree in the person's place, and names a link that is none", { skip }, async () => {
  const desk = await deskWith("passport-valid");
  try {
    const session = await newSession();
    await assert.rejects(desk.read(session.verification_url), {
      constructor: CommandError,
      message: /consent|agree/i,
    });
    assert.equal(expectData(await partner.api.get(`/v1/sessions/${session.id}`)).status, "created");
    await assert.rejects(desk.read("https://example.com/other"), {
      constructor: CommandError,
      message: /verification_url/,
    });
  } finally {
    await desk.stop();
  }
});

test("a key that does not open the chip leaves the session free, and a desk that was interrupted comes back to it", {
  skip,
}, async () => {
  const desk = await deskWith("passport-valid");
  try {
    const session = await newSession();
    await agree(service.api, session.id);
    await assert.rejects(desk.read(session.verification_url, undefined, ["--can", "000000"]), {
      constructor: CommandError,
      exitCode: 5,
      message: /does not open with what was typed[\s\S]*Compare number and dates/,
    });
    assert.equal(expectData(await partner.api.get(`/v1/sessions/${session.id}`)).status, "created");

    const interruption = new Error("the power went off");
    const interrupted = desk.read(session.verification_url, (line) => {
      if (line === "claim") throw interruption;
    });
    await assert.rejects(interrupted, interruption);
    assert.equal(expectData(await partner.api.get(`/v1/sessions/${session.id}`)).status, "in_progress");
    const { exitCode, lines } = await desk.read(session.verification_url);
    assert.equal(exitCode, 0, lines.join("\n"));
    const [name = ""] = readdirSync(nameFolder);
    assert.equal(statSync(join(nameFolder, name)).mode & 0o777, 0o600);
  } finally {
    await desk.stop();
  }
});

test("in a terminal the desk asks for the key, says what to do, and asks before another try is used up", {
  skip,
}, async () => {
  const asked: string[] = [];
  const typed = ["12", "000000"];
  const desk = await deskWith(
    "passport-expired",
    clerk((question) => {
      asked.push(question);
      if (question.startsWith("Card access number")) return typed.shift() ?? desk.can;
      return "q";
    }),
  );
  try {
    const session = await newSession();
    await agree(service.api, session.id);
    const lines: string[] = [];
    await assert.rejects(
      desk.read(session.verification_url, (line) => lines.push(line), []),
      { constructor: CommandError, exitCode: 5, message: /The session stays open/ },
    );
    const text = lines.join("\n");
    assert.match(text, /six digits/);
    assert.match(text, /The chip does not open with what was typed\.\nCompare number and dates/);
    assert.match(text, /The session is yours/);
    assert.match(
      text,
      /Refused\. The document has expired\. Ask for one that is still valid\. Tries left: 2\./,
    );
    assert.deepEqual(
      asked.map((question) => question.slice(0, 17)),
      ["Card access numbe", "Card access numbe", "Card access numbe", "Lay the document "],
    );
    const left = expectData(await partner.api.get(`/v1/sessions/${session.id}`));
    assert.deepEqual([left.status, left.nfc_tries_used], ["in_progress", 1]);
  } finally {
    await desk.stop();
  }
});

test("a desk takes over with the code that the person's page shows, and is told what to do without it", {
  skip,
}, async () => {
  const desk = await deskWith("passport-valid");
  try {
    const session = await newSession();
    const { cancel_token } = await agree(service.api, session.id);
    const path = `/v1/verify/session/${session.id}`;
    const handoff = async (body: object) =>
      expectData(await service.api.post(`${path}/handoff`, body), 201) as { handoff_token: string };
    const { handoff_token } = await handoff({});
    // The person's phone, whose battery is now empty.
    const phone = { handoff_token, device_id: crypto.randomUUID() };
    expectData(await service.api.post(`${path}/claim`, phone), 201);
    await assert.rejects(desk.read(session.verification_url), {
      constructor: CommandError,
      exitCode: 4,
      message: /Use another device/,
    });
    const shown = await handoff({ cancel_token });
    const { exitCode, lines } = await desk.read(`${session.verification_url}#handoff=${shown.handoff_token}`);
    assert.equal(exitCode, 0, lines.join("\n"));
  } finally {
    await desk.stop();
  }
});

test("a counter reads for one person after the other, and goes on after a card that was removed and a reader that was unplugged", {
  skip,
}, async () => {
  const documents = ["passport-valid", "passport-cloned-chip-authentication"] as const;
  const [valid, copy] = documents.map((id) => testDocument(id, service.clock.now()));
  assert.ok(valid !== undefined && copy !== undefined);
  const chipOf = (document: typeof valid) => createVirtualChip({ files: document.files, ...document.chip });
  let daemon = await startPcscd();
  const socketPath = join(nameFolder, "socket");
  symlinkSync(daemon.socketPath, socketPath);
  const sessions = await Promise.all([newSession(), newSession(), newSession(), newSession()]);
  for (const { id } of sessions) await agree(service.api, id);
  const [first, second, third, fourth] = sessions.map(({ verification_url }) => verification_url);
  let inserted = await daemon.insert(chipOf(valid));
  let document = valid;
  /** What staff do when the counter asks for the next person. */
  const persons = [
    async () => first,
    async () => {
      await inserted.close();
      inserted = await daemon.insert(chipOf(copy));
      document = copy;
      return second;
    },
    async () => {
      await inserted.close();
      return third;
    },
    async () => {
      await daemon.stop();
      return fourth;
    },
    async () => {
      daemon = await startPcscd();
      rmSync(socketPath);
      symlinkSync(daemon.socketPath, socketPath);
      document = valid;
      await daemon.insert(chipOf(valid));
      return fourth;
    },
  ];
  const terminal = {
    ask: async (question: string) => {
      if (question.startsWith("Next person")) {
        const next = await persons.shift()?.();
        if (next === undefined) throw new TerminalClosed();
        return next;
      }
      if (question.startsWith("Card access number")) return document.chip.can;
      // The copy is read until its tries are used up; a missing document is given up.
      return question.includes("another try") ? "" : "q";
    },
  };
  const lines: string[] = [];
  try {
    const args = ["read", "--service", service.url, "--socket", socketPath, "--wait", "2"];
    const exitCode = await runCommand([readCommandAt({ terminal, nameFolder })], args, (line) =>
      lines.push(line),
    );
    assert.equal(exitCode, 0, lines.join("\n"));
    const words = lines.filter((line) => ["PASSED", "REFUSED", "NOT READ"].includes(line));
    assert.deepEqual(words, ["PASSED", "REFUSED", "NOT READ", "NOT READ", "PASSED"], lines.join("\n"));
    const text = lines.join("\n");
    assert.match(text, /NOT READ\nEnded at the desk\.\nThe session stays open/);
    assert.match(text, /NOT READ\n[^\n]*smart card service is not running/);
    const ended = await Promise.all(
      sessions.map(async ({ id }) => expectData(await partner.api.get(`/v1/sessions/${id}`)).status),
    );
    assert.deepEqual(ended, ["succeeded", "failed", "created", "succeeded"]);
  } finally {
    await daemon.stop();
  }
});

test("without a network, and without a reader, the desk is told so with what to do", { skip }, async () => {
  const desk = await deskWith("passport-valid");
  try {
    const { verification_url: url } = await newSession();
    await assert.rejects(desk.read(url.replace(/:\d+\//, ":1/")), {
      constructor: CommandError,
      exitCode: 4,
      message: /cannot be reached[\s\S]*Check the network/,
    });
  } finally {
    await desk.stop();
  }
  await assert.rejects(desk.read((await newSession()).verification_url), {
    constructor: CommandError,
    exitCode: 6,
    message: /pcscd/,
  });
});
