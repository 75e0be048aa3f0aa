// Builds the page into the crate that embeds it. The names are fixed: the server sends them with `no-store`.
import { defineConfig } from "vite";

export default defineConfig({
  build: {
    outDir: "../crates/ui/dist",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rollupOptions: {
      output: { entryFileNames: "app.js", assetFileNames: "app[extname]" },
    },
  },
});
