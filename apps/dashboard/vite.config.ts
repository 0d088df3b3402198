import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { precompress } from "../../scripts/precompress.ts";

// biome-ignore lint/style/noDefaultExport: the build tool asks for one.
export default defineConfig({
  base: "/dashboard/",
  plugins: [react(), tailwindcss(), precompress()],
  build: { outDir: "dist", sourcemap: false, target: "es2022", assetsInlineLimit: 0 },
});
