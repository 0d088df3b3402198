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
  // A separate task: together with the start of the program it would block a slow phone noticeably.
  setTimeout(async () => {
    const language = initialLanguage(chosenLanguage(), navigator.languages);
    await loadWords(language);
    document.documentElement.lang = language;
    // Preact would adopt the placeholder as its own first elements.
    root.replaceChildren();
    createRoot(root).render(
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>,
    );
  });
