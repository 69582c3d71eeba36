// Bundles the command of a version into one file for the tests of the next one. README.md beside it says when and how to run it:
//
//   node packages/cli/test/upgrades/bundle.mjs <entry of its millrace command> <file.mjs.br>
import { writeFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import { rolldown } from 'rolldown';

/** What the tests don't need, and what makes the file several times as large. */
const LEFT_OUT =
  /^(@scalar\/fastify-api-reference|ai|@ai-sdk\/.*|mysql2|nodemailer|@zxcvbn-ts\/.*|zod)(\/|$)/;
/** Can be imported, called, registered as a plugin of fastify and extended; does nothing. */
const NOTHING = `module.exports = new Proxy(async () => {}, {
  get: (nothing, name) =>
    typeof name === 'symbol' || name === '__esModule' || name === 'then'
      ? undefined
      : name === 'default' ? nothing : class Absent {},
});`;

const [entry, file] = process.argv.slice(2);
const leaveOut = {
  name: 'leave-out',
  resolveId: {
    order: 'pre',
    handler: (id) => (LEFT_OUT.test(id) ? { id: `\0nothing:${id}`, external: false } : null),
  },
  load: (id) => (id.startsWith('\0nothing:') ? { code: NOTHING, moduleType: 'js' } : null),
};
await using bundler = await rolldown({
  input: entry,
  platform: 'node',
  external: ['pg-native'],
  resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
  transform: { target: 'node22' },
  plugins: [leaveOut],
});
const { output } = await bundler.generate({ format: 'esm', minify: true, codeSplitting: false });
const params = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_QUALITY]: 11 };
writeFileSync(file, brotliCompressSync(output[0].code, { params }));
