// Gives the verify page its `window.chipTransport` (docs/shell.md). App and App Clip run it before every
// script of the page, in the main frame of their origin only. Every message is answered, all of it text
// (ShellMessage.swift is the other end):
//
//   page to shell   transceive HEX    reset    cancel    progress STEP PERCENT|-    keep JSON
//   shell to page   answer HEX 0|1    done 0|1    lost REASON 0|1
//
// The last word says whether a chip has the application selected when it is found. The shell wraps this
// script in a function with `shellFacts`: what is known when the page is made.
if (window === window.top) {
  const native = window.webkit.messageHandlers.chip;
  let applicationSelected = true;
  let reading = false;
  let shown = "";

  const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const fromHex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

  const losses = {
    left: "The chip left the field",
    cancelled: "The reading was given up",
    timeout: "The phone looks for a chip for 60 seconds at most",
    busy: "The phone's reader is busy",
    unavailable: "This phone has no reader, or the app may not use it",
    refused: "The phone does not carry this command",
  };

  const ask = async (message) => {
    const [kind, ...rest] = (await native.postMessage(message)).split(" ");
    applicationSelected = rest.at(-1) === "1";
    if (kind === "answer") return fromHex(rest[0]);
    if (kind === "lost") throw Object.assign(new Error(losses[rest[0]]), { reason: rest[0] });
  };

  // For messages without an answer. A closing shell no longer answers.
  const tell = (message) => void ask(message).catch(() => {});

  // The web view keeps nothing on disk. The page's state goes to the shell whenever the system could end the
  // app soon: before a document is read, and when the app goes to the background.
  const areas = { session: window.sessionStorage, device: window.localStorage };
  const own = (key) => key.startsWith("assay:");
  const restoredMark = "shell:restored";
  const keep = () => {
    const stored = Object.entries(areas).map(([name, area]) => {
      const keys = Object.keys(area).filter(own);
      return [name, Object.fromEntries(keys.map((key) => [key, area.getItem(key)]))];
    });
    const isEmpty = stored.every(([, entries]) => Object.keys(entries).length === 0);
    tell(`keep ${isEmpty ? "" : JSON.stringify(Object.fromEntries(stored))}`);
  };
  // Within one life of the web view its own storage is the newer of the two.
  if (areas.session.getItem(restoredMark) === null) {
    for (const [name, area] of Object.entries(areas))
      for (const [key, value] of Object.entries(shellFacts.kept?.[name] ?? {})) area.setItem(key, value);
    areas.session.setItem(restoredMark, "yes");
  }
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") keep();
  });
  window.addEventListener("pagehide", keep);

  const chipTransport = {
    // Apple names no limits. These are what every phone carries; the page reads in steps that fit.
    maxCommandBytes: 261,
    maxResponseBytes: 258,
    extendedLength: false,
    get applicationSelected() {
      return applicationSelected;
    },
    transceive(command) {
      if (!reading) keep();
      reading = true;
      return ask(`transceive ${toHex(command)}`);
    },
    reset: () => ask("reset"),
    showProgress({ at, readBytes, totalBytes }) {
      // The sheet shows tenths.
      const percent =
        totalBytes > 0 ? 10 * Math.floor((10 * Math.min(readBytes, totalBytes)) / totalBytes) : "-";
      const message = `progress ${at} ${percent}`;
      if (message !== shown) tell(message);
      shown = message;
    },
    cancel() {
      reading = false;
      shown = "";
      tell("cancel");
    },
  };
  // A page without a transport says which devices can read.
  if (shellFacts.reader === "ready")
    Object.defineProperty(window, "chipTransport", { value: Object.freeze(chipTransport) });
}
