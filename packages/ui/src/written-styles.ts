import type { Plugin } from "vite";
import { fontsCss, latinCss } from "./font-slices.ts";
import { tokensCss } from "./tokens.ts";

/** As seen from the style sheet of either page. */
const fontFolder = "../../../packages/ui/src/fonts/";

const written: Readonly<Record<string, () => string>> = {
  tokens: tokensCss,
  fonts: () => fontsCss(fontFolder),
  "latin-font": () => latinCss(fontFolder),
};

/** Puts the rules in the place of `@import "written:tokens"`. It comes before Tailwind, which reads imports as files. */
export function writtenStyles(): Plugin {
  return {
    name: "written-styles",
    enforce: "pre",
    transform: (code, id) =>
      id.includes(".css")
        ? code.replace(/@import "written:([a-z-]+)";/g, (line, name) => written[name]?.() ?? line)
        : null,
  };
}
