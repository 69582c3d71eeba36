import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** Compresses the built files in advance, so that the service doesn't compress them for each browser. */
function packAssets(): Plugin {
  let folder = '';
  return {
    name: 'pack-assets',
    apply: 'build',
    configResolved: (config) => {
      folder = resolve(config.root, config.build.outDir, config.build.assetsDir);
    },
    // Not in closeBundle, which also runs after a failed build and would hide its error.
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
  // The server replaces it with a fresh nonce in every response.
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    manifest: true,
    // An inlined file would be a data: URL, which the policy allows only for images.
    assetsInlineLimit: 0,
    target: 'es2023',
    rolldownOptions: {
      // Code shared by most pages goes into one file: by default the bundler would create 150 files for one page.
      output: {
        codeSplitting: {
          groups: [
            // A file for each would be larger altogether, and a request each.
            { name: 'icons', test: /lucide-react/ },
            { name: 'shared', minShareCount: 14 },
            // What the first page of every visit loads anyway: a file for each part of it would be fifteen requests more.
            { name: 'index', tags: ['$initial'] },
          ],
        },
      },
    },
  },
});
