import { previewPath } from "@assay/ui/preview";
import { createRoot } from "react-dom/client";
import { type Address, App } from "./app.tsx";
import { shellTransport } from "./device/chip-transport.ts";
import { detectDisplayContext, tabMark } from "./device/display-context.ts";
import { appMissingMark } from "./device/ways.ts";
import { initialLanguage, loadWords, markLanguage, sessionLanguage } from "./i18n/language.ts";
import { takeGiven } from "./session/given.ts";
import { isOffer, offerMark } from "./session/offers.ts";
import "./styles.css";
import "./embed/embed.css";

/**
 * `/verify/vs_…`, with a token in the fragment, which no server sees. The token comes from a scanned code,
 * from the socket of a desk reader without a camera, or from a wallet that sends the person back.
 */
function readAddress(): Address {
  const sessionId = /^\/verify\/([^/]+)/.exec(location.pathname)?.[1] ?? "";
  const fragment = new URLSearchParams(location.hash.slice(1));
  const socketToken = fragment.get("socket");
  const appMissing = location.search === `?${appMissingMark}` && shellTransport() === null;
  // The token of a link that was meant for the app is not for its browser.
  const handoffToken = appMissing ? null : fragment.get("handoff");
  detectDisplayContext(sessionId, fragment.has(tabMark));
  // The token stays in this tab's storage; the visible address does not contain it.
  if (location.hash !== "" || location.search !== "") history.replaceState(null, "", location.pathname);
  const responseCode = fragment.get("response_code");
  const offer = fragment.get(offerMark);
  return {
    sessionId,
    handoffToken,
    socketToken,
    responseCode,
    offer: isOffer(offer) ? offer : null,
    appMissing,
  };
}

function chosenLanguage(): string | null {
  try {
    return localStorage.getItem("assay:language");
  } catch {
    return null;
  }
}

async function show(root: HTMLElement): Promise<void> {
  const chosen = chosenLanguage();
  const language = initialLanguage(chosen, navigator.languages);
  const address = readAddress();
  const given = takeGiven(address.sessionId);
  const isChosen = chosen === language;
  const words = await loadWords((given && sessionLanguage(isChosen, given.details)) ?? language);
  markLanguage(words.language);
  // The existing content would count as the first elements of the page.
  root.replaceChildren();
  createRoot(root).render(<App address={address} given={given} words={words} chosen={isChosen} />);
}

// A wallet may return to this page, which a browser then does not reload.
window.addEventListener("hashchange", () => {
  if (location.hash.includes("response_code=")) location.reload();
});

const root = document.getElementById("root");
if (root !== null)
  await (location.pathname === previewPath
    ? import("./preview/preview.tsx").then(({ showPreview }) => showPreview(root))
    : location.pathname.endsWith("/test-wallet")
      ? import("./test-wallet/test-wallet.tsx").then(({ showTestWallet }) => showTestWallet(root))
      : show(root));
