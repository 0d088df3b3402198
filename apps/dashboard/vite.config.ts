import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vite";
import { preactAsReact } from "../../packages/ui/src/preact-as-react.ts";
import { writtenStyles } from "../../packages/ui/src/written-styles.ts";
import { precompress } from "../../scripts/precompress.ts";
import { pageFiles } from "./page-files.ts";
import { textParts } from "./text-parts.ts";
import { schemaFunctions, withoutSchemas } from "./without-schemas.ts";

/**
 * One file for what every page behind the sign-in needs, and one for what the sign-in also needs. By default
 * the build makes thirty small files.
 */
const groups = [
  {
    name: "base",
    test: /node_modules\/(?:preact|use-sync-external-store|@tanstack)\/|dashboard\/src\/(?:api\/|i18n\/|state\/|ui\/(?:button|field|form|icon|in-sentence|language-picker|notice|offline|page|plain-words|toasts)\.)|packages\/ui\/src\/(?:icons|staff-icons|stroke-icon)\.|packages\/contract\/src\/(?:accounts|client|email|facts|ids|page|route|schema|shown-text)\./,
  },
  {
    name: "frame",
    test: /dashboard\/src\/(?:shell\/(?!palette|not-found|page-failure)|ui\/(?!date-range-picker|page-languages|public-frame|qr-code|export-list|menu|object-page|status|tabs|timeline)|webhooks\/opened-here|sessions\/(?:presets|session-body|claim-labels))|packages\/contract\/src\/(?:analytics|api-keys|events|evidence-warnings|organizations|sessions|webhooks)\./,
  },
  // Shared by lists and object pages, but not by the overview.
  { name: "object", test: /dashboard\/src\/ui\/(?:export-list|menu|object-page|status|tabs|timeline)\./ },
];

// biome-ignore lint/style/noDefaultExport: the build tool asks for one.
export default defineConfig({
  base: "/dashboard/",
  plugins: [
    withoutSchemas(),
    textParts(),
    writtenStyles(),
    tailwindcss(),
    pageFiles(new URL("src/router.tsx", import.meta.url)),
    precompress(),
  ],
  resolve: {
    alias: [
      { find: /^typebox$/, replacement: new URL("src/api/no-schemas.ts", import.meta.url).pathname },
      ...preactAsReact,
    ],
  },
  build: {
    outDir: "dist",
    sourcemap: false,
    target: "es2022",
    assetsInlineLimit: 0,
    manifest: true,
    rolldownOptions: {
      // Libraries mark browser code ("use client"), and all code here is browser code.
      onwarn: (warning, warn) => {
        if (warning.code !== "MODULE_LEVEL_DIRECTIVE") warn(warning);
      },
      treeshake: { manualPureFunctions: schemaFunctions },
      output: { codeSplitting: { includeDependenciesRecursively: false, groups } },
    },
  },
});
