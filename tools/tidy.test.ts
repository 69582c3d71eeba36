import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { commandNames } from '../packages/cli/src/commands/program.ts';
import { commandsExist, type ProjectFile, readProject, TIDY_RULES } from './tidy.ts';

const project = readProject(fileURLToPath(new URL('..', import.meta.url)));
const rules = [...TIDY_RULES, commandsExist(commandNames())];

/** Per rule: a project that violates it, and how often. */
const broken: Record<string, { readonly files: readonly ProjectFile[]; readonly times: number }> = {
  'a file has one subject and fits in the head': {
    files: [
      { path: 'packages/service/src/long.ts', text: 'x\n'.repeat(501) },
      { path: 'packages/testing/src/long.ts', text: 'x\n'.repeat(401) },
      { path: 'packages/service/src/short.ts', text: 'x\n'.repeat(500) },
    ],
    times: 2,
  },
  'file names are kebab-case': {
    files: [
      { path: 'tools/camelCase.ts', text: '' },
      { path: 'README.md', text: '' },
    ],
    times: 1,
  },
  'migrations are numbered without gaps': {
    files: [
      { path: 'db/migrations/0001_one.sql', text: '' },
      { path: 'db/migrations/0003_three.sql', text: '' },
    ],
    times: 1,
  },
  'every node has a test beside it': {
    files: [
      { path: 'packages/nodes/src/nodes/a.ts', text: '' },
      { path: 'packages/nodes/src/nodes/b.ts', text: '' },
      { path: 'packages/nodes/src/nodes/b.test.ts', text: '' },
    ],
    times: 1,
  },
  'SQL is plain text, never built from strings': {
    files: [
      {
        path: 'packages/service/src/store.ts',
        text: [
          'const a = `SELECT * FROM t WHERE id = ${id}`;',
          "const b = 'DELETE FROM ' + table;",
          'const c = `SELECT 1`;',
          'const d = `Select ${one} of these`;',
          'const e = `SELECT ${ITEM_COLUMNS} FROM ${ROWS.sql} AS r (${ROWS.list()})`;',
          'const g = `SELECT ${ITEM_COLUMNS} FROM ${ROWS.unseenSql} AS r (${ROWS.list()})`;',
          'const f = `SELECT ${ITEM_COLUMNS} FROM t WHERE id = ${id}`;',
        ].join('\n'),
      },
    ],
    times: 3,
  },
  'a test takes its chance from the seed of the run': {
    files: [
      {
        path: 'packages/engine/test/a.test.ts',
        text: [
          'fc.assert(property, { numRuns: 500 });',
          'fc.assert(property, { numRuns: runs(500) });',
          'fc.assert(property, { seed: 20_261, numRuns: runs(500) });',
          'fc.sample(flows, { seed, numRuns: 10 });',
          'const choice = Math.random();',
        ].join('\n'),
      },
    ],
    times: 3,
  },
  'the lockfile records no download addresses': {
    files: [{ path: 'package-lock.json', text: '{"resolved": "https://example.org/x.tgz"}' }],
    times: 1,
  },
  'every rule of SPEC.md is cited by a test, and only rules that exist are cited': {
    files: [
      { path: 'packages/engine/SPEC.md', text: '- **E1** One.\n- **E2** Two.\n' },
      {
        path: 'packages/engine/test/step.test.ts',
        text: "it('E1: one', () => {}); it('T9: nine', () => {});",
      },
    ],
    times: 2,
  },
  'docs and config.ts know the same environment variables': {
    files: [
      { path: 'packages/cli/src/settings/config.ts', text: 'MILLRACE_A MILLRACE_B' },
      { path: 'docs/operations.md', text: 'MILLRACE_A MILLRACE_C' },
    ],
    times: 2,
  },
  'docs name npm scripts that exist': {
    files: [
      { path: 'package.json', text: '{"scripts":{"start":"x"}}' },
      { path: 'README.md', text: 'npm start, npm test, npm run nothing' },
    ],
    times: 2,
  },
  'docs name files that exist': {
    files: [
      { path: 'packages/engine/src/step.ts', text: '' },
      {
        path: 'docs/guide.md',
        text: [
          'See `packages/engine/src/step.ts`, `packages/{engine,nodes}/src` and `packages/engine/src/*.ts`.',
          'Run `npm test -- packages/engine/test/gone.test.ts`; [here](guide.md#top), [there](gone.md), [away](https://example.com/a.md).',
        ].join('\n'),
      },
      { path: 'docs/adr/0001-one.md', text: '`packages/server`' },
    ],
    times: 3,
  },
  'a table of the files in a folder lists all of them, and no others': {
    files: [
      ...['step.ts', 'plan.ts', 'plan.test.ts', 'a-1.ts', 'a-2.ts', 'left.ts'].map((name) => ({
        path: `packages/engine/src/${name}`,
        text: '',
      })),
      {
        path: 'ARCHITECTURE.md',
        text: [
          '| Files in `packages/engine/src` | Purpose |',
          '|---|---|',
          '| `step.ts`, `a-*.ts` | steps, not `other.ts` |',
          '| `{plan,gone}.ts` | plans |',
        ].join('\n'),
      },
    ],
    times: 2,
  },
  'the environment is read in config.ts only': {
    files: [
      { path: 'packages/cli/src/settings/config.ts', text: 'process.env' },
      { path: 'packages/api/src/app.ts', text: 'const a = process.env.A;' },
    ],
    times: 1,
  },
  'nothing is left open': {
    files: [{ path: 'tools/a.ts', text: '// TODO: the rest\nconst fine = 1;\n// not implemented\n' }],
    times: 2,
  },
  'no test is switched off or alone': {
    files: [{ path: 'a.test.ts', text: "it.only('a')\nit.skip('b')" }],
    times: 2,
  },
  'no path of one machine': {
    files: [{ path: 'docs/a.md', text: 'see /work/x\nor /root/y\nnot https://host/work/z' }],
    times: 2,
  },
  'no registry address': { files: [{ path: '.npmrc', text: 'registry=http://127.0.0.1:1/' }], times: 1 },
  'texts and docs are plain English': {
    files: [
      {
        path: 'packages/ui/src/i18n/en/forms.json',
        text: '"noJson": "This is no JSON",\n"none": "There is no node"',
      },
      { path: 'docs/editor.md', text: 'It is no longer there.\nIt does not run any more.' },
      { path: 'docs/adr/0001-one.md', text: 'Mend it.' },
    ],
    times: 2,
  },
  'README counts no tests': { files: [{ path: 'README.md', text: 'All 1,234 tests pass.' }], times: 1 },
  'docs show commands that exist': {
    files: [{ path: 'docs/cli.md', text: 'millrace keys list\nmillrace keys eat\n`npx millrace dance`' }],
    times: 2,
  },
};

describe.each(rules)('$name', (rule) => {
  it('holds in this project', () => {
    expect(rule.find(project)).toEqual([]);
  });

  it('is noticed when it is broken', () => {
    const example = broken[rule.name];
    expect(example, 'a rule needs an example of its breaking').toBeDefined();
    expect(rule.find(example?.files ?? [])).toHaveLength(example?.times ?? -1);
  });
});
