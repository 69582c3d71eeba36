import { cpSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Plugin, RolldownMagicString, rolldown } from 'rolldown';

/**
 * Bundles the service and the command line into `<folder>/lib`, and copies the files they read beside it. Run by tools/artefact.mjs:
 * `node tools/bundle.ts FOLDER`.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Files that are started by themselves: the command, and what runs in a thread. */
const ENTRIES: Readonly<Record<string, string>> = {
  millrace: 'packages/cli/src/cli.ts',
  'code-thread': 'packages/ports/src/code/thread.ts',
};

/** What the service reads while it runs, and where the artefact has it. */
const COPIED: Readonly<Record<string, string>> = {
  'packages/database/src/migrations': 'migrations',
  'packages/ports/src/code/harness.js': 'code/harness.js',
  'packages/ports/src/code/python/harness.py': 'code/harness.py',
  'packages/ports/src/code/library.js': 'code/library.js',
  'packages/ports/src/code/library-intl.js': 'code/library-intl.js',
  'packages/chat/src/client/chat.css': 'chat/chat.css',
  'packages/chat/src/client/answers.js': 'chat/answers.js',
  'packages/chat/src/client/chat.js': 'chat/chat.js',
  'packages/chat/src/client/files.js': 'chat/files.js',
  'packages/chat/src/client/log.js': 'chat/log.js',
  'packages/chat/src/client/markup.js': 'chat/markup.js',
  'packages/chat/src/client/questions.js': 'chat/questions.js',
  'packages/chat/src/client/session.js': 'chat/session.js',
  'packages/chat/src/client/embed.js': 'chat/embed.js',
  'node_modules/markdown-it/dist/browser/markdown-it.umd.min.js': 'chat/markdown-it.js',
  'node_modules/@jitl/quickjs-wasmfile-release-sync/dist/emscripten-module.wasm': 'code/quickjs.wasm',
  'node_modules/pdfjs-dist/cmaps': 'pdf/cmaps',
  'node_modules/@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm': 'image/jpeg-decoder.wasm',
  'node_modules/@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm': 'image/jpeg-encoder.wasm',
  'node_modules/@jsquash/png/codec/pkg/squoosh_png_bg.wasm': 'image/png.wasm',
  'node_modules/@jsquash/webp/codec/dec/webp_dec.wasm': 'image/webp-decoder.wasm',
  'node_modules/@jsquash/webp/codec/enc/webp_enc_simd.wasm': 'image/webp-encoder.wasm',
  'node_modules/@jsquash/resize/lib/resize/pkg/squoosh_resize_bg.wasm': 'image/resize.wasm',
  docs: 'docs',
  examples: 'examples',
};

/** What tools/artefact.mjs puts there, or what isn't part of the artefact. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'packages/web/dist': 'web',
  'packages/api/package.json': 'package.json',
  'node_modules/.cache/millrace': '.cache',
  // The folder of a clone, whose artefact is in dist/<build>.
  '': '../..',
};

const PLACES = new Map(
  Object.entries({
    ...Object.fromEntries(Object.entries(ENTRIES).map(([name, source]) => [source, `lib/${name}.js`])),
    ...COPIED,
    ...ELSEWHERE,
  }),
);

const URL_HERE = /new URL\(\s*'([^']+)',\s*import\.meta\.url\s*\)/g;
const RESOLVED = /import\.meta\.resolve\('([^']+)'\)/g;

/**
 * Sources find files by `new URL('...', import.meta.url)` and `import.meta.resolve('...')`. In the artefact they are elsewhere; an unknown
 * one fails the build.
 */
function moveFiles(used: Set<string>): Plugin {
  const place = (file: string, importer: string): string => {
    const source = relative(ROOT, file).replace(/\/$/, '');
    const target = PLACES.get(source);
    if (target === undefined) {
      throw new Error(
        `${relative(ROOT, importer)} reads ${source}: say in tools/bundle.ts where the artefact has it`,
      );
    }
    used.add(source);
    return JSON.stringify(`../${target}`);
  };
  return {
    name: 'move-files',
    transform: {
      filter: { id: new RegExp(`^${RegExp.escape(join(ROOT, 'packages'))}/`), code: 'import.meta' },
      async handler(code, importer) {
        const unknown = code.match(/new URL\((?!\s*')[^)]*import\.meta\.url/);
        if (unknown !== null) throw new Error(`${relative(ROOT, importer)}: "${unknown[0]}" needs a literal`);
        const moved = new RolldownMagicString(code);
        for (const { 0: all, 1: path = '', index } of code.matchAll(URL_HERE)) {
          const target = place(resolve(dirname(importer), path), importer);
          moved.overwrite(index, index + all.length, `new URL(${target}, import.meta.url)`);
        }
        for (const { 0: all, 1: name = '', index } of code.matchAll(RESOLVED)) {
          const found = await this.resolve(name, importer);
          if (found === null) throw new Error(`${relative(ROOT, importer)}: ${name} is not installed`);
          moved.overwrite(
            index,
            index + all.length,
            `new URL(${place(found.id, importer)}, import.meta.url).href`,
          );
        }
        return {
          code: moved.toString(),
          map: moved.generateMap({ source: importer, hires: true }).toString(),
        };
      },
    },
  };
}

/**
 * `import` of `node:http` asks for all of its names, WebSocket among them, and so loads Node's whole fetch: a twentieth of a start. Asking for
 * the module itself doesn't, and nothing imports these names from there.
 */
function withoutFetch(): Plugin {
  const names = Object.entries(Object.getOwnPropertyDescriptors(http))
    .filter(([name, descriptor]) => 'value' in descriptor && name !== 'default')
    .map(([name]) => name);
  return {
    name: 'without-fetch',
    resolveId: {
      filter: { id: /^(node:)?http$/ },
      handler: (_id, _importer, { kind }) => (kind === 'import-statement' ? '\0http' : null),
    },
    load: {
      filter: { id: /^\0http$/ },
      handler: () =>
        `const http = process.getBuiltinModule('node:http');\nexport default http;\nexport const { ${names.join(', ')} } = http;`,
    },
  };
}

/**
 * V8 keeps the text of a module and a second copy of its literals; the text of a JSON file is gone once it is parsed. Each becomes a file of
 * its own beside the code.
 */
function jsonBesideCode(): Plugin {
  return {
    name: 'json-beside-code',
    load: {
      filter: { id: new RegExp(`^${RegExp.escape(join(ROOT, 'packages'))}/.*\\.json$`) },
      async handler(id) {
        const source = JSON.stringify(JSON.parse(await readFile(id, 'utf8')));
        const file = this.emitFile({ type: 'asset', name: basename(id), source });
        return {
          code: `import { readFileSync } from 'node:fs';
export default JSON.parse(readFileSync(new URL(import.meta.ROLLUP_FILE_URL_${file}), 'utf8'));`,
          moduleType: 'js',
        };
      },
    },
  };
}

async function bundle(folder: string): Promise<void> {
  const used = new Set<string>();
  const input = Object.fromEntries(
    Object.entries(ENTRIES).map(([name, source]) => [name, join(ROOT, source)]),
  );
  await using bundler = await rolldown({
    input,
    cwd: ROOT,
    platform: 'node',
    // Loaded only if they are installed.
    external: ['pg-native', 'pyodide'],
    // Its main file finds its parts by a name that a bundler can't see.
    resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
    plugins: [moveFiles(used), withoutFetch(), jsonBesideCode()],
    transform: { target: 'node22' },
    onLog(level, log, report) {
      // Left as it is, it would fail when the artefact starts.
      if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message);
      report(level, log);
    },
  });
  await bundler.write({
    dir: join(folder, 'lib'),
    format: 'esm',
    sourcemap: true,
    chunkFileNames: '[name]-[hash].js',
    // V8 keeps the text of what is loaded, with two bytes for each character unless all are ASCII. Licences are in a file of their own.
    charset: 'ascii',
    comments: false,
  });
  const unused = [...PLACES.keys()].filter((source) => !used.has(source) && source !== ENTRIES.millrace);
  if (unused.length > 0) throw new Error(`tools/bundle.ts lists what nothing reads: ${unused.join(', ')}`);
  for (const [source, target] of Object.entries(COPIED)) {
    // Programs shown in the documentation are for whoever has the sources.
    const filter = (file: string) => !file.endsWith('.ts');
    cpSync(join(ROOT, source), join(folder, target), { recursive: true, filter });
  }
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node tools/bundle.ts FOLDER');
await bundle(resolve(folder));
