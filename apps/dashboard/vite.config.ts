import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { precompress } from "../../scripts/precompress.ts";
import { schemaFunctions, withoutSchemas } from "./without-schemas.ts";

/**
 * What every page behind the sign-in needs, in one file, and what the sign-in needs too, in another. Left to itself the build makes thirty small files of it, each with headers of
 * half a kilobyte.
 */
const groups = [
  {
    name: "base",
    test: /node_modules\/(?:react|react-dom|scheduler|use-sync-external-store|@tanstack)\/|dashboard\/src\/(?:api\/|ui\/(?:button|field|form|icon|notice|offline|page|plain-words|toasts)\.)|packages\/ui\/src\/(?:icons|staff-icons|stroke-icon)\.|packages\/contract\/src\/(?:accounts|client|email|facts|ids|page|route|schema|shown-text)\./,
  },
  {
    name: "frame",
    test: /dashboard\/src\/(?:shell\/(?!palette|public-frame|not-found|page-failure)|ui\/(?!date-range-picker|qr-code|code|copy-as|csv|request-code))/,
  },
];

// biome-ignore lint/style/noDefaultExport: the build tool asks for one.
export default defineConfig({
  base: "/dashboard/",
  plugins: [withoutSchemas(), react(), tailwindcss(), precompress()],
  resolve: {
    alias: [{ find: /^typebox$/, replacement: new URL("src/api/no-schemas.ts", import.meta.url).pathname }],
  },
  build: {
    outDir: "dist",
    sourcemap: false,
    target: "es2022",
    assetsInlineLimit: 0,
    rolldownOptions: {
      treeshake: { manualPureFunctions: schemaFunctions },
      output: { codeSplitting: { includeDependenciesRecursively: false, groups } },
    },
  },
});
