// Gives the verify page its `window.chipTransport` (docs/reading-devices.md). The shell has it run before every script of the
// page, and hands over a message port once the page is loaded. All text on that port:
//
//   page to shell   transceive NUMBER HEX    cancel
//   shell to page   limits COMMAND_BYTES RESPONSE_BYTES 0|1    answer NUMBER HEX    lost NUMBER
if (window === window.top) {
  const waiting = new Map();
  // What every phone carries. The true limits are told with the first chip in the field, before its first answer.
  let limits = { maxCommandBytes: 261, maxResponseBytes: 258, extendedLength: false };
  let numbered = 0;
  let port = null;
  let unsent = [];

  const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const fromHex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

  const tell = (message) => {
    if (port === null) unsent.push(message);
    else port.postMessage(message);
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
    const exchange = waiting.get(Number(first));
    if (exchange === undefined) return;
    waiting.delete(Number(first));
    if (kind === "answer") exchange.resolve(fromHex(second ?? ""));
    else exchange.reject(new Error("The chip left the field or the reading was given up"));
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
    transceive(command) {
      return new Promise((resolve, reject) => {
        numbered += 1;
        waiting.set(numbered, { resolve, reject });
        tell(`transceive ${numbered} ${toHex(command)}`);
      });
    },
    cancel() {
      tell("cancel");
    },
  };
  Object.defineProperty(window, "chipTransport", { value: Object.freeze(chipTransport) });
}
