import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// biome-ignore lint/style/noDefaultExport: the build tool asks for one.
export default defineConfig({
  base: "/verify/",
  plugins: [react(), tailwindcss()],
  worker: { format: "es" },
  build: { outDir: "dist", sourcemap: false, target: "es2022", assetsInlineLimit: 0 },
});
