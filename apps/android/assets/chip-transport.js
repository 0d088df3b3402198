// Gives the verify page its `window.chipTransport` (docs/shell.md). The shell runs it before every script of
// the page, and hands over a message port once the page is loaded. Text messages on that port:
//
//   page to shell   transceive NUMBER HEX    reset NUMBER    cancel    keep JSON    feel read|problem
//                   settings    makekey NUMBER HEX    sign NUMBER HEX
//   shell to page   limits COMMAND_BYTES RESPONSE_BYTES 0|1    answer NUMBER HEX    done NUMBER
//                   lost NUMBER    unavailable NUMBER    reader ready|off|absent
//                   certificates NUMBER HEX.HEX    refused NUMBER
//
// Before it the shell defines `shellFacts`: what is known when the page is made.
if (window === window.top) {
  const waiting = new Map();
  // Limits that every phone supports. The true limits come with the first chip in the field, before its first
  // answer.
  let limits = { maxCommandBytes: 261, maxResponseBytes: 258, extendedLength: false };
  let readerState = shellFacts.reader;
  let numbered = 0;
  let port = null;
  let unsent = [];

  const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const fromHex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

  const tell = (message) => {
    if (port === null) unsent.push(message);
    else port.postMessage(message);
  };

  const changed = () => window.dispatchEvent(new Event("chiptransportchange"));

  const lost = {
    lost: "The chip left the field or the reading was given up",
    unavailable: "The phone's reader is turned off or there is none",
    refused: "The phone's secure hardware did not do it",
  };

  const hear = (message) => {
    const [kind, first, second, third] = message.split(" ");
    if (kind === "limits") {
      limits = {
        maxCommandBytes: Number(first),
        maxResponseBytes: Number(second),
        extendedLength: third === "1",
      };
      return;
    }
    if (kind === "reader") {
      if (first === readerState) return;
      readerState = first;
      changed();
      return;
    }
    const exchange = waiting.get(Number(first));
    if (exchange === undefined) return;
    waiting.delete(Number(first));
    if (kind === "answer") exchange.resolve(fromHex(second ?? ""));
    else if (kind === "done") exchange.resolve(undefined);
    else if (kind === "certificates") exchange.resolve((second ?? "").split(".").map(fromHex));
    else exchange.reject(new Error(lost[kind]));
  };

  window.addEventListener("message", (event) => {
    // A message of the shell has no window as its source; whatever a frame or another window sends has one.
    if (port !== null || event.source !== null || event.data !== "chip-transport") return;
    const [offered] = event.ports;
    if (offered === undefined) return;
    port = offered;
    port.onmessage = ({ data }) => hear(data);
    for (const message of unsent) port.postMessage(message);
    unsent = [];
  });

  const ask = (message) =>
    new Promise((resolve, reject) => {
      numbered += 1;
      waiting.set(numbered, { resolve, reject });
      tell(message(numbered));
    });

  // The web view loses its sessionStorage when Android ends the process; the shell does not. While the web
  // view lives, sessionStorage is the newer of the two.
  const restoredMark = "shell:restored";
  const own = (key) => key !== restoredMark;
  const storage = {
    getItem: (key) => window.sessionStorage.getItem(key),
    setItem(key, value) {
      window.sessionStorage.setItem(key, value);
      keep();
    },
    removeItem(key) {
      window.sessionStorage.removeItem(key);
      keep();
    },
  };
  const keep = () => {
    const keys = Object.keys(window.sessionStorage).filter(own);
    const entries = Object.fromEntries(keys.map((key) => [key, window.sessionStorage.getItem(key)]));
    tell(`keep ${keys.length === 0 ? "" : JSON.stringify(entries)}`);
  };
  if (window.sessionStorage.getItem(restoredMark) === null) {
    for (const [key, value] of Object.entries(shellFacts.kept ?? {}))
      window.sessionStorage.setItem(key, value);
    window.sessionStorage.setItem(restoredMark, "yes");
  }

  const chipTransport = {
    get maxCommandBytes() {
      return limits.maxCommandBytes;
    },
    get maxResponseBytes() {
      return limits.maxResponseBytes;
    },
    get extendedLength() {
      return limits.extendedLength;
    },
    get readerState() {
      return readerState;
    },
    antenna: Object.freeze(shellFacts.antenna),
    storage: Object.freeze(storage),
    transceive: (command) => ask((number) => `transceive ${number} ${toHex(command)}`),
    reset: () => ask((number) => `reset ${number}`),
    cancel: () => tell("cancel"),
    feel: (what) => tell(`feel ${what}`),
    openReaderSettings: () => tell("settings"),
  };
  Object.defineProperty(window, "chipTransport", { value: Object.freeze(chipTransport) });

  const frameVoucher = {
    makeKey: (nonce) => ask((number) => `makekey ${number} ${toHex(nonce)}`),
    sign: (message) => ask((number) => `sign ${number} ${toHex(message)}`),
  };
  Object.defineProperty(window, "frameVoucher", { value: Object.freeze(frameVoucher) });
}
