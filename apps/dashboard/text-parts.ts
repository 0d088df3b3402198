import { readFileSync } from "node:fs";

/** The texts of the sign-in, the overview and the list of sessions. The others load with the other pages. */
export const firstAreas: readonly string[] = [
  "api",
  "invitations",
  "overview",
  "sessions",
  "shell",
  "signIn",
  "ui",
];

/** Build plugin: splits the texts of a language (`texts/de.json?first`, `texts/de.json?later`). */
export function textParts(): { name: string; enforce: "pre"; load(id: string): string | null } {
  return {
    name: "text-parts",
    enforce: "pre",
    load(id) {
      const [file = "", part] = id.split("?");
      if (part !== "first" && part !== "later") return null;
      const areas = Object.entries(JSON.parse(readFileSync(file, "utf8")));
      const chosen = areas.filter(([area]) => firstAreas.includes(area) === (part === "first"));
      return `export default ${JSON.stringify(Object.fromEntries(chosen))};`;
    },
  };
}
