import assert from "node:assert/strict";
import test, { after } from "node:test";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import { openDb } from "../../src/platform/db/db.ts";
import { systemClock as clock } from "../../src/platform/kernel/clock.ts";
import { Api, expectData } from "../support/api.ts";
import { checkAccessibility, openBrowser, openPage } from "../support/browser.ts";
import { createLivePartner } from "../support/live.ts";
import { openMachines } from "../support/machines.ts";
import { testDocument, trustTestCountry } from "../support/verify-device.ts";
import { agree, heading } from "../support/verify-page.ts";

const { database, balancer, startMachine, reach } = await openMachines({ DESK_READERS: "true" });
const db = openDb({ url: database.url, poolSize: 1, onError: () => {} });
after(() => db.close());

test("when the machine that has the chip of a desk is killed, the page says what to do, and goes on at the other one", async () => {
  const [first, second] = [await startMachine("first"), await startMachine("second")];
  reach(first, second);
  const core = { db, clock };
  await trustTestCountry({ core, clock });
  const live = await createLivePartner(core, new Api(balancer.url));
  const session = expectData(
    await live.api.post("/v1/sessions", {
      share_fields: { family_name: { required: true, reason: "To find your booking." } },
    }),
    201,
  );
  const browser = await openBrowser();
  const open = async (address: string) => {
    const { page } = await openPage(browser, balancer.url);
    page.setDefaultTimeout(60_000);
    await page.goto(address);
    return page;
  };
  const person = await open(session.verification_url);
  await person.getByRole("button", { name: "I am at the counter" }).click();
  await agree(person);

  // A desk has the same name in a session each time.
  const readAtDesk = async () => {
    const read = await runDevice({
      verificationUrl: session.verification_url,
      consent: "given",
      deviceId: () => "00000000-0000-4000-8000-00000000de5c",
      chip: virtualPassport(testDocument("passport-valid", clock.now())),
    });
    assert.ok(read.kind === "face_elsewhere", JSON.stringify(read));
    return read.url;
  };
  reach(second);
  const atDesk = await open(await readAtDesk());
  await heading(atDesk, "Now show your face").waitFor();

  await second.stop("SIGKILL");
  reach(first);
  await heading(atDesk, "The document has to be read again").waitFor();
  await atDesk.getByText("Have it read at the desk once more").waitFor();
  await atDesk.getByText("This didn’t count as an attempt.").waitFor();
  await checkAccessibility(atDesk);
  await person.getByText("Reading the chip").first().waitFor();

  const next = await open(await readAtDesk());
  await heading(next, "Now show your face").waitFor();
  await heading(atDesk, "Another device has taken over").waitFor();
  await person.getByRole("alert").filter({ hasText: "Your face is next" }).waitFor();
  const { status, nfc_tries_used: used } = expectData(await live.api.get(`/v1/sessions/${session.id}`));
  assert.deepEqual([status, used], ["in_progress", 1]);
});
