import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** Packs what was built beside the originals, so that the service sends it without packing it for each browser. */
function packAssets(): Plugin {
  let folder = '';
  return {
    name: 'pack-assets',
    apply: 'build',
    configResolved: (config) => {
      folder = resolve(config.root, config.build.outDir, config.build.assetsDir);
    },
    // Not when the bundle is closed: that happens to a failed build, too, and would hide why it has failed.
    writeBundle: () => {
      for (const name of readdirSync(folder).filter((each) => /\.(js|css|svg)$/.test(each))) {
        const content = readFileSync(join(folder, name));
        writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
        writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content));
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), packAssets()],
  // Whoever serves the page puts a fresh nonce there in every answer.
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    manifest: true,
    // An inlined file would be a data: URL, which the policy allows for pictures only.
    assetsInlineLimit: 0,
    target: 'es2023',
    rolldownOptions: {
      // What most pages use comes in one file: left to itself, the bundler makes 150 for one page.
      output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 14 }] } },
    },
  },
});
