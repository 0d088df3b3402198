// Scripts of guides and reference: search, copy, tabs, trying a request. The pages are readable without them.

const sidebar = document.querySelector(".sidebar details");
const wide = matchMedia("(min-width: 60rem)");
const openSidebar = () => {
  if (sidebar) sidebar.open = wide.matches;
};
wide.addEventListener("change", openSidebar);
openSidebar();
// On a phone the sidebar is closed, and measuring it would force another layout of the whole page.
if (wide.matches) document.querySelector(".sidebar [aria-current]")?.scrollIntoView({ block: "nearest" });

// --- copy ----------------------------------------------------------------------------------------------

document.addEventListener("click", async ({ target }) => {
  const button = target.closest?.(".copy");
  if (!button) return;
  await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
  button.textContent = "Copied";
  setTimeout(() => {
    button.textContent = "Copy";
  }, 1500);
});

// --- tabs: a language that was chosen once is chosen everywhere ---------------------------------------------

const storedLanguage = "assay-language";
const remembered = () => {
  try {
    return localStorage.getItem(storedLanguage);
  } catch {
    return null;
  }
};

function choose(group, language) {
  const buttons = [...group.querySelectorAll("[role=tab]")];
  const chosen = buttons.find((button) => button.dataset.language === language) ?? buttons[0];
  for (const button of buttons) {
    const selected = button === chosen;
    button.setAttribute("aria-selected", String(selected));
    button.tabIndex = selected ? 0 : -1;
    document.getElementById(button.getAttribute("aria-controls")).hidden = !selected;
  }
  return chosen;
}

const groups = [...document.querySelectorAll(".tabs")];
for (const group of groups) {
  const list = group.querySelector("[role=tablist]");
  // The HTML shows the first one.
  if (remembered() !== null) choose(group, remembered());
  const take = (button) => {
    const top = group.getBoundingClientRect().top;
    for (const other of groups) choose(other, button.dataset.language);
    scrollBy(0, group.getBoundingClientRect().top - top);
    try {
      localStorage.setItem(storedLanguage, button.dataset.language);
    } catch {}
  };
  list.addEventListener("click", (event) => {
    const button = event.target.closest("[role=tab]");
    if (button) take(button);
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const buttons = [...list.children];
    const next = buttons.at((buttons.indexOf(document.activeElement) + step) % buttons.length);
    take(next);
    next.focus();
  });
}

// --- search: the index is one file, loaded with the first search --------------------------------------------

const search = document.querySelector(".search");
const input = search.querySelector("input");
const found = document.getElementById("found");
let index = null;
search.hidden = false;

const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];

async function readIndex() {
  index ??= fetch("/assets/search.json").then((answer) => answer.json());
  return index;
}

function score(entry, words) {
  const title = `${entry.title} ${entry.page}`.toLowerCase();
  const text = entry.text.toLowerCase();
  let sum = entry.title.toLowerCase() === words.join(" ") ? 100 : 0;
  for (const word of words) {
    const inTitle = title.includes(word);
    if (!inTitle && !text.includes(word)) return 0;
    sum += inTitle ? 10 : 1;
  }
  return sum;
}

function excerpt(text, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 40);
  return `${at > 0 ? "…" : ""}${text.slice(at, at + 120)}${at + 120 < text.length ? "…" : ""}`;
}

async function find() {
  const words = wordsOf(input.value);
  found.hidden = words.length === 0;
  if (words.length === 0) return;
  const entries = await readIndex();
  const best = entries
    .map((entry) => ({ entry, points: score(entry, words) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points)
    .slice(0, 12);
  found.querySelector("[role=status]").textContent =
    best.length === 0 ? "Nothing found." : `${best.length === 12 ? "The best 12" : best.length} found.`;
  found.querySelector("ul").replaceChildren(
    ...best.map(({ entry }) => {
      const item = document.createElement("li");
      const link = item.appendChild(document.createElement("a"));
      link.href = entry.href;
      link.append(entry.title === entry.page ? entry.title : `${entry.page}: ${entry.title}`);
      const line = link.appendChild(document.createElement("span"));
      line.textContent = excerpt(
        entry.text,
        words.find((word) => entry.text.toLowerCase().includes(word)) ?? "",
      );
      return item;
    }),
  );
}

input.addEventListener("focus", () => void readIndex());
input.addEventListener("input", () => void find());
search.addEventListener("keydown", (event) => {
  const links = [...found.querySelectorAll("a")];
  if (event.key === "Escape") {
    input.value = "";
    found.hidden = true;
    input.focus();
  } else if (event.key === "Enter" && document.activeElement === input) links[0]?.click();
  else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const all = [input, ...links];
    all.at((all.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1)) % all.length).focus();
  }
});
found.addEventListener("click", () => {
  found.hidden = true;
});
document.addEventListener("click", (event) => {
  if (!search.contains(event.target)) found.hidden = true;
});
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea");
  if (event.key === "/" && !typing) {
    event.preventDefault();
    input.focus();
  }
});

// --- trying a request: the key stays in the page's memory ----------------------------------------------

let credential = "";
for (const form of document.querySelectorAll(".try form")) {
  form.closest(".try").hidden = false;
  const key = form.elements.namedItem("credential");
  key?.addEventListener("input", () => {
    credential = key.value;
  });
  form.addEventListener("focusin", () => {
    if (key && key.value === "") key.value = credential;
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const output = form.querySelector("output");
    const values = new FormData(form);
    let path = form.dataset.path.replace(/\{(\w+)\}/g, (_, name) =>
      encodeURIComponent(values.get(`path.${name}`)),
    );
    const query = [...values].filter(([name, value]) => name.startsWith("query.") && value !== "");
    if (query.length > 0)
      path += `?${new URLSearchParams(query.map(([name, value]) => [name.slice(6), value]))}`;
    const body = values.get("body");
    const headers = {
      ...(key?.value ? { authorization: `Bearer ${key.value}` } : {}),
      ...(body ? { "content-type": "application/json" } : {}),
    };
    output.hidden = false;
    output.textContent = "…";
    try {
      const answer = await fetch(path, {
        method: form.dataset.method,
        headers,
        body: body || undefined,
        credentials: "omit",
      });
      const text = await answer.text();
      let shown = text;
      try {
        shown = JSON.stringify(JSON.parse(text), null, 2);
      } catch {}
      output.textContent = `${answer.status} ${answer.statusText}\n${shown}`;
    } catch (error) {
      output.textContent = String(error);
    }
  });
}
