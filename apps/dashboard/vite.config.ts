import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { precompress } from "../../scripts/precompress.ts";
import { schemaFunctions, withoutSchemas } from "../../scripts/without-schemas.ts";

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
    rolldownOptions: { treeshake: { manualPureFunctions: schemaFunctions } },
  },
});
