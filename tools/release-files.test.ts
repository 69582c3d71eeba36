import { expect, test } from 'vitest';
import { dependenciesOf } from './licences.ts';
import { billOfMaterials, checksums, dateChangelog, requireLater, withVersion } from './release-files.ts';

test.each(['0.1.0', '0.0.9', '1.2', 'v1.0.0', '1.0.0-beta'])('%s is refused after 0.1.0', (version) => {
  expect(() => requireLater(version, '0.1.0')).toThrow(version);
});

test.each(['0.1.1', '0.2.0', '0.10.0', '1.0.0'])('%s may follow 0.1.0', (version) => {
  expect(() => requireLater(version, '0.1.0')).not.toThrow();
});

test('the unreleased changes get the version and the date', () => {
  const text =
    '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- Something.\n\n## [0.1.0] - 2026-11-22\n\n- First.\n';
  expect(dateChangelog(text, '0.2.0', '2026-12-01')).toBe(
    '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- Something.\n\n## [0.1.0] - 2026-11-22\n\n- First.\n',
  );
});

test('a release without changes is refused', () => {
  expect(() =>
    dateChangelog('## [Unreleased]\n\n## [0.1.0] - 2026-11-22\n\n- First.\n', '0.2.0', ''),
  ).toThrow('lists no unreleased changes');
});

test.each([
  ['package.json', '{\n  "name": "millrace-workspace",\n  "version": "0.1.0"\n}', '0.1.0', 0],
  [
    'packages/cli/package.json',
    '{\n  "name": "@millrace/cli",\n  "version": "0.1.0",\n  "dependencies": {\n    "@millrace/api": "0.1.0",\n    "other": "0.1.0"\n  }\n}',
    '0.1.0',
    1,
  ],
  ['deploy/helm/millrace/Chart.yaml', 'name: millrace\nversion: 0.1.0\nappVersion: 0.1.0\n', '0.1.0', 0],
  ['deploy/compose/single.yml', 'image: millrace:0.1.0\n', '0.1.0', 0],
  ['deploy/compose/scaled.yml', 'image: millrace:0.1.0-slim\n', '0.1.0', 0],
  ['README.md', 'npm install ./millrace-0.1.0.tgz', '0.1.0', 0],
  ['docs/operations.md', 'Something 0.1.0 of others, and millrace-0.1.01', '0.1.0', 2],
])('%s gets the version, and nothing else does', (path, text, current, left) => {
  const next = withVersion({ path, text }, current, '0.2.0');
  expect(next.split('0.1.0').length - 1).toBe(left);
});

test('the bill of materials lists what is bundled, and is the same every time', () => {
  const dependencies = dependenciesOf();
  const bom = JSON.parse(billOfMaterials('1.2.3', '2026-12-01', dependencies)) as {
    serialNumber: string;
    components: { name: string; purl: string; hashes?: { content: string }[]; licenses: object[] }[];
  };
  expect(bom.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  const purls = bom.components.map(({ purl }) => purl);
  expect(new Set(purls).size).toBe(purls.length);
  const names = bom.components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['fastify', 'pg', 'react', 'undici']));
  for (const development of ['vitest', 'koa', 'typescript']) expect(names).not.toContain(development);
  for (const { hashes = [], licenses } of bom.components) {
    expect(licenses).toHaveLength(1);
    for (const { content } of hashes) expect(content).toMatch(/^[0-9a-f]{128}$/);
  }
  const again = billOfMaterials('1.2.3', '2026-12-01', dependencies);
  expect(JSON.parse(again)).toEqual(bom);
  expect(JSON.parse(billOfMaterials('1.2.3', '2026-12-02', dependencies))).not.toEqual(bom);
});

test('checksums are those that sha256sum checks', () => {
  expect(checksums([{ name: 'a.txt', content: Buffer.from('abc') }])).toBe(
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a.txt\n',
  );
});
