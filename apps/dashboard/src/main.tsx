import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { takeMailedToken } from "./api/mailed-token.ts";
import { queries } from "./api/queries.ts";
import { chosenLanguage, initialLanguage } from "./i18n/language.ts";
import { loadWords } from "./i18n/words.ts";
import { router } from "./router.tsx";
import "./styles.css";

takeMailedToken();
window.addEventListener("hashchange", takeMailedToken);

const root = document.getElementById("root");
if (root !== null)
  // In a task of its own: together with starting the program it would hold up a slow phone for long enough to be felt.
  setTimeout(async () => {
    const language = initialLanguage(chosenLanguage(), navigator.languages);
    await loadWords(language);
    document.documentElement.lang = language;
    // Preact would take what stands there for its own first elements.
    root.replaceChildren();
    createRoot(root).render(
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>,
    );
  });
