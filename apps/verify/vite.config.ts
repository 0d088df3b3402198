import { createRequire } from "node:module";
import path from "node:path";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The package has its models beside its scripts, and exports only the scripts.
const human = path.dirname(path.dirname(createRequire(import.meta.url).resolve("@vladmandic/human")));

// biome-ignore lint/style/noDefaultExport: the build tool asks for one.
export default defineConfig({
  base: "/verify/",
  plugins: [react(), tailwindcss()],
  resolve: { alias: { "@vladmandic/human/models": path.join(human, "models") } },
  worker: { format: "es" },
  build: { outDir: "dist", sourcemap: false, target: "es2022", assetsInlineLimit: 0 },
});
