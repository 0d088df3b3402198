import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vite";
import { preactAsReact } from "../../packages/ui/src/preact-as-react.ts";
import { writtenStyles } from "../../packages/ui/src/written-styles.ts";
import { precompress } from "../../scripts/precompress.ts";

const neededAtOnce =
  /\/apps\/verify\/src\/(session|ui|device|embed|i18n\/language|reading\/chip-transport|screens\/(begin|bound|consent|leave|message|required|show-later|who))|\/packages\/(ui|contract\/src\/(client|shown-|facts|verify-addresses))|\/preact\/compat\/client/;
/** Code needed first to read a chip, in a shell and with a test passport. */
const neededToRead = /\/packages\/(emrtd\/src\/(base64|emrtd-error)|device\/src\/answer-command)/;
/** Code that both uses of the camera share with the screens before. */
const neededForCamera = /\/apps\/verify\/src\/face\/(camera|speak)/;

// biome-ignore lint/style/noDefaultExport: the build tool asks for one.
export default defineConfig({
  base: "/verify/",
  plugins: [writtenStyles(), tailwindcss(), precompress()],
  resolve: { alias: preactAsReact },
  // One object literal per language: an export per text, or a text to parse, would need more bytes.
  json: { namedExports: false, stringify: false },
  worker: { format: "es" },
  build: {
    outDir: "dist",
    sourcemap: false,
    target: "es2022",
    assetsInlineLimit: 0,
    manifest: true,
    rolldownOptions: {
      // The code that the first screen and later ones share is needed at once:
      // one file is smaller than several.
      output: {
        codeSplitting: {
          groups: [
            { name: "shared", minShareCount: 2, test: neededAtOnce },
            { name: "reading", minShareCount: 2, test: neededToRead },
            { name: "camera", minShareCount: 2, test: neededForCamera },
          ],
        },
      },
    },
  },
});
