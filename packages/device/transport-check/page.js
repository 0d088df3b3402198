// The conformance suite in a page that a shell opens. A person places and removes the document, unless a
// program defines `window.transportCheckHand` first.

import { keyFieldsFromTyped } from "@assay/emrtd/mrz/mrz-key";
import { checkTransport } from "./check-transport.ts";

const byId = (id) => document.getElementById(id);

function tell(text) {
  byId("hand").hidden = text === "";
  byId("hand").textContent = text;
}

/** A person is asked, and given time; the page cannot see the document. */
function ask(text) {
  return new Promise((resolve) => {
    tell(text);
    const done = document.createElement("button");
    done.textContent = "Done";
    done.onclick = () => {
      tell("");
      resolve();
    };
    byId("hand").append(" ", done);
  });
}

const person = (() => {
  let there = null;
  const put = async (wanted, text) => {
    if (there !== wanted) await ask(text);
    there = wanted;
  };
  return {
    layDown: () => put(true, "Hold the document against the device, and keep it there."),
    takeAway: () => put(false, "Take the document away from the device."),
  };
})();

/** A frame of this very origin: where it has a transport, so has any other. */
async function frameHasTransport() {
  const frame = document.createElement("iframe");
  frame.src = location.href;
  document.body.append(frame);
  await new Promise((resolve) => {
    frame.onload = resolve;
  });
  const has = frame.contentWindow.chipTransport !== undefined;
  frame.remove();
  return has;
}

function keyOf(form) {
  const { number, birth, expiry, can } = Object.fromEntries(new FormData(form));
  if (can.trim() !== "") return { can: can.trim() };
  return { mrz: keyFieldsFromTyped({ documentNumber: number, dateOfBirth: birth, dateOfExpiry: expiry }) };
}

function show({ id, promise, outcome, note }) {
  const line = document.createElement("li");
  line.className = outcome;
  line.textContent = `${outcome.toUpperCase()} ${id}: ${promise}`;
  if (note !== "") {
    const more = document.createElement("div");
    more.className = "note";
    more.textContent = note;
    line.append(more);
  }
  byId("results").append(line);
}

if (window.top === window) {
  if (window.chipTransport === undefined)
    byId("lead").textContent =
      "There is no window.chipTransport. Open this page in your shell; it must define the object before the page's scripts run.";
  byId("key").onsubmit = async (event) => {
    event.preventDefault();
    byId("results").textContent = "";
    byId("verdict").textContent = "";
    let key;
    try {
      key = keyOf(event.target);
    } catch (error) {
      byId("verdict").textContent = error.message;
      return;
    }
    event.target.hidden = true;
    const hand = window.transportCheckHand ?? person;
    const transport = async () => window.chipTransport;
    const results = await checkTransport({ ...hand, key, transport, waits: true, frameHasTransport }, show);
    const failed = results.filter(({ outcome }) => outcome === "failed").length;
    byId("verdict").textContent =
      failed === 0 ? "All checks that concern this shell passed." : `${failed} checks failed.`;
    event.target.hidden = false;
  };
}
