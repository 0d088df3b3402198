import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { testDocument } from "@assay/emrtd/node/test-country/catalogue";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import { perform } from "../../apps/server/test/support/actor.ts";
import { type newOwner, password } from "../../bench/support/new-partner.ts";
import { installCamera } from "./canvas-camera.ts";
import type { Person } from "./person.ts";
import { openShellPage, type ShellPage } from "./shell-page.ts";

export type Walk = {
  name: string;
  /** `keep` takes a picture by this name. */
  run(person: Person, service: Service, keep: (name: string) => Promise<void>): Promise<void>;
};

export type Service = { url: string; send: Awaited<ReturnType<typeof newOwner>>["send"] };

export const partner = { name: "Harbour Hotel", slug: "harbour" };

async function createSession({ send }: Service, body: Record<string, unknown> = {}) {
  return (await send("/v1/sessions", body)) as { id: string; verification_url: string };
}

/** A person who agreed, at the list of test passports. */
async function comeToTheDocuments(person: Person, service: Service): Promise<string> {
  const session = await createSession(service);
  await person.engine.goto(session.verification_url);
  await agree(person);
  await person.press("Choose a test passport");
  await person.choose("input[value=passport-valid]");
  return session.id;
}

async function agree(person: Person): Promise<void> {
  await person.heading(`${partner.name} asks`);
  await person.choose("form input[type=checkbox]");
  await person.press("Agree and continue");
}

async function expectVerified(person: Person): Promise<void> {
  await person.heading("You are verified", 60_000);
}

/** The page of the passport in a hand that is never still. */
const holdThePage = `(async () => {
  const picture = new Image();
  picture.src = document.querySelector("[data-testid=data-page]").src;
  await picture.decode();
  const { canvas, context } = window.canvasCamera;
  let frame = 0;
  const width = 1120;
  const height = width * picture.naturalHeight / picture.naturalWidth;
  setInterval(() => {
    frame++;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = "#5a4a3c";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.translate(canvas.width / 2 + 8 * Math.sin(frame / 9), canvas.height / 2 + 6 * Math.cos(frame / 7));
    context.rotate(0.04 * Math.sin(frame / 11));
    context.drawImage(picture, -width / 2, -height / 2, width, height);
  }, 60);
})()`;

/** A photo of the page on a table, as a chosen file. */
const giveAPhoto = `(async () => {
  const picture = new Image();
  picture.src = document.querySelector("[data-testid=data-page]").src;
  await picture.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: 1600, height: 1200 });
  const context = canvas.getContext("2d");
  context.fillStyle = "#444";
  context.fillRect(0, 0, 1600, 1200);
  context.rotate(-0.03);
  context.drawImage(picture, 150, 150, 1250, 880);
  const photo = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.85));
  const chosen = new DataTransfer();
  chosen.items.add(new File([photo], "passport.jpg", { type: "image/jpeg" }));
  const field = document.querySelector("input[type=file]");
  field.files = chosen.files;
  field.dispatchEvent(new Event("change", { bubbles: true }));
})()`;

async function readThroughShell(person: Person, service: Service, shell: ShellPage): Promise<void> {
  const document = testDocument("passport-valid", new Date());
  if (document === null) throw new Error("there is no such test passport");
  const { mrzKey, ...keys } = document.chip;
  const chip = createVirtualChip({ ...keys, files: document.files, mrzKey, applicationSelected: true });
  let isOpen = false;
  const phone = async (message: string) => {
    const [kind, hex = ""] = message.split(" ");
    if (kind === "cancel") isOpen = false;
    if (kind !== "transceive") return "done 1";
    // A sheet begins with a chip that has forgotten everything.
    if (!isOpen) await chip.reset();
    isOpen = true;
    return `answer ${Buffer.from(await chip.transceive(Buffer.from(hex, "hex"))).toString("hex")} 1`;
  };
  const says = (text: string) => async () =>
    (await person.engine.evaluate<string>("document.body.innerText")).includes(text);

  const session = await createSession(service);
  await person.engine.goto(`${shell.url}${new URL(session.verification_url).pathname}`);
  await agree(person);
  await shell.serve(person.engine, phone, says("Read the document here"));
  await person.press("Read the document here");
  await shell.serve(person.engine, phone, says("Date of expiry"));
  const date = (text: string, century: string) =>
    `${century}${text.slice(0, 2)}-${text.slice(2, 4)}-${text.slice(4, 6)}`;
  await person.typeInto("Document number", mrzKey.documentNumber);
  await person.typeInto("Date of birth", date(mrzKey.dateOfBirth, "19"));
  await person.typeInto("Date of expiry", "2031-01-01");
  await person.press("Read the chip");
  await shell.serve(person.engine, phone, says("The chip did not open"));
  await person.typeInto("Date of expiry", date(mrzKey.dateOfExpiry, "20"));
  await person.press("Read the chip");
  await shell.serve(person.engine, phone, says("Now show your face"));
}

export const walks: readonly Walk[] = [
  {
    name: "from the consent to the outcome with a test passport from the list",
    async run(person, service, keep) {
      const session = await createSession(service);
      await person.engine.goto(session.verification_url);
      await person.heading(`${partner.name} asks`);
      await person.until("what is agreed to", `document.querySelector("form input[type=checkbox]") !== null`);
      await keep("consent");
      await person.until(
        "a page that is no wider than the window",
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth",
      );
      await agree(person);
      await person.press("Choose a test passport");
      await person.choose("input[value=passport-valid]");
      await keep("documents");
      await person.press("Read this document");
      await person.heading("Now show your face");
      await keep("face");
      await person.press("Continue");
      await expectVerified(person);
      await keep("done");
    },
  },
  {
    name: "the lines of the passport read by the camera, with nothing typed",
    async run(person, service, keep) {
      await comeToTheDocuments(person, service);
      await person.press("Show its page");
      await person.until("the data page", `document.querySelector("[data-testid=data-page]") !== null`);
      await installCamera(person.engine, { width: 1280, height: 960 });
      await person.engine.evaluate(holdThePage);
      await person.press("Scan with the camera");
      await person.until("the scan", `document.querySelector("[data-testid=zone-scan]") !== null`);
      await keep("scan");
      await person.heading("Now show your face", 60_000);
      await person.press("Continue");
      await expectVerified(person);
    },
  },
  {
    name: "the same from a photo",
    async run(person, service) {
      await comeToTheDocuments(person, service);
      await person.press("Show its page");
      await person.until("the data page", `document.querySelector("[data-testid=data-page]") !== null`);
      await person.engine.evaluate(giveAPhoto);
      await person.heading("Now show your face", 60_000);
    },
  },
  {
    name: "a drawn person does before the camera what is asked, and is the one of the passport",
    async run(person, service, keep) {
      await comeToTheDocuments(person, service);
      await person.press("Read this document");
      await person.heading("Now show your face");
      const camera = await installCamera(person.engine);
      // A person who missed an instruction tries again.
      for (let tries = 1; ; tries++) {
        const outcome = await perform(camera, camera, { person: "adult" }, async () => {
          await person.press(tries === 1 ? "Use the camera" : "Try again");
          await person.until(
            "the check",
            `document.querySelector("[data-testid=face-instruction]") !== null`,
            60_000,
          );
          await keep("face-check");
          const ends = `[...document.querySelectorAll("h1")].some((title) => /You are verified|did not succeed/.test(title.textContent))`;
          await person.until(
            "the end",
            `${ends} || document.querySelector("[role=alert]") !== null`,
            120_000,
          );
          return person.engine.evaluate<string>("document.body.innerText");
        });
        if (outcome.includes("You are verified")) return;
        if (tries === 3) throw new Error(`did not pass\n${outcome.slice(0, 1000)}`);
      }
    },
  },
  {
    name: "in a frame of a partner's page, which receives the step",
    async run(person, service, keep) {
      const server = createServer((_request, response) => {
        response.setHeader("content-type", "text/html; charset=utf-8");
        response.end(
          `<!doctype html><title>Shop</title><h1>Shop</h1><div id="place"></div><script src="${service.url}/embed/v1.js"></script>`,
        );
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      try {
        const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
        const session = await createSession(service, { embed_origin: origin });
        await person.engine.goto(origin);
        const verificationUrl = JSON.stringify(session.verification_url);
        await person.engine.evaluate(`(() => {
          window.messages = [];
          Assay.open({ verificationUrl: ${verificationUrl}, onReady: () => window.messages.push("ready"), onChange: ({ step }) => window.messages.push(step) });
        })()`);
        await person.until("a frame that reports its step", `window.messages.includes("consent")`);
        await keep("frame");
      } finally {
        server.closeAllConnections();
        server.close();
      }
    },
  },
  {
    name: "a chip read through the iPhone shell's script, after a wrong key",
    async run(person, service, keep) {
      const script = readFileSync(
        new URL("../../apps/ios/Shared/Resources/chip-transport.js", import.meta.url),
        "utf8",
      );
      const shell = await openShellPage(service.url, script);
      try {
        await readThroughShell(person, service, shell);
        await keep("shell");
      } finally {
        shell.close();
      }
    },
  },
  {
    name: "an admin signs in to the dashboard and makes a key",
    async run(person, service, keep) {
      await createSession(service);
      await person.engine.resize(1440, 900);
      await person.engine.goto(`${service.url}/dashboard/sign-in`);
      await person.type("input[name=email]", `${partner.slug}@example.com`);
      await person.type("input[name=password]", password);
      await person.press("Sign in");
      await person.until("to be signed in", `!location.pathname.endsWith("/sign-in")`);
      await person.engine.goto(`${service.url}/dashboard/api-keys`);
      await person.heading("API keys");
      await person.press("Create API key");
      await person.type("dialog[open] input[name=name]", "Of another browser");
      await keep("dashboard-key");
      await person.press("Create key");
      await person.press("I've saved it");
      await person.until(
        "the key",
        `document.querySelector("tbody")?.textContent.includes("Of another browser")`,
      );
      await person.engine.goto(`${service.url}/dashboard/sessions`);
      await person.heading("Sessions");
      await person.until("a session in the list", `document.querySelector("tbody tr, [role=row]") !== null`);
      await keep("dashboard-sessions");
    },
  },
  {
    name: "the docs are searched",
    async run(person, service, keep) {
      await person.engine.resize(1440, 900);
      await person.engine.goto(`${service.url}/docs/webhooks`);
      await person.until("the search", `document.querySelector("search")?.hidden === false`);
      await person.type("search input", "signature");
      await person.until("something that is found", `document.querySelectorAll("#found li a").length > 0`);
      await keep("docs");
    },
  },
];
