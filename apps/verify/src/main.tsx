import { createRoot } from "react-dom/client";
import { type Address, App } from "./app.tsx";
import { initialLanguage, loadWords } from "./i18n/language.ts";
import "./styles.css";

/** `/verify/vs_…`, with the token of a scanned code in the fragment, which no server gets to see. */
function readAddress(): Address {
  const sessionId = /^\/verify\/([^/]+)/.exec(location.pathname)?.[1] ?? "";
  const handoffToken = new URLSearchParams(location.hash.slice(1)).get("handoff");
  // The token stays in this tab's storage; the address that may be bookmarked or shown to others is without it.
  if (handoffToken !== null) history.replaceState(null, "", location.pathname);
  return { sessionId, handoffToken };
}

function chosenLanguage(): string | null {
  try {
    return localStorage.getItem("assay:language");
  } catch {
    return null;
  }
}

const language = initialLanguage(chosenLanguage(), navigator.languages);
document.documentElement.lang = language;
const address = readAddress();
const words = await loadWords(language);
const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<App address={address} words={words} />);
