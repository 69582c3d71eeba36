import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const RULE = /\b[A-Z]\d{1,2}\b/g;

function defined(): string[] {
  const text = readFileSync(join(ROOT, 'SPEC.md'), 'utf8');
  return [...text.matchAll(/^- \*\*([A-Z]\d+)\*\*/gm)].map((match) => match[1] ?? '');
}

/** Names of tests and suites: the first string after `it(`, `it.each(...)(` and so on. */
function cited(): Map<string, string[]> {
  const rules = new Map<string, string[]>();
  const folders = [
    ...[join(ROOT, 'test'), join(ROOT, 'test/support')],
    // The rules of templates and of values are in the same document.
    ...['templates', 'values'].map((name) => join(ROOT, '..', name, 'test')),
  ];
  for (const folder of folders) {
    for (const file of readdirSync(folder).filter(
      (name) => name.endsWith('.ts') && name !== 'spec.test.ts',
    )) {
      const text = readFileSync(join(folder, file), 'utf8');
      for (const [, , name = ''] of text.matchAll(
        /(?:\bit\(|\)\(|\bit\.each[^\n]*\()\s*(['"])((?:(?!\1)[^\\\n]|\\.)*)\1/g,
      )) {
        for (const rule of /^(?:[A-Z]\d+ ?)+:/.exec(name)?.[0].match(RULE) ?? []) {
          rules.set(rule, [...(rules.get(rule) ?? []), `${file}: ${name}`]);
        }
      }
    }
  }
  return rules;
}

describe('SPEC.md', () => {
  it('no rule is defined twice', () => {
    const rules = defined();
    expect(rules.length).toBeGreaterThan(60);
    expect(rules.filter((rule, at) => rules.indexOf(rule) !== at)).toEqual([]);
  });

  it('every rule is cited by a test', () => {
    const tests = cited();
    expect(defined().filter((rule) => !tests.has(rule))).toEqual([]);
  });

  it('no test cites a rule that does not exist', () => {
    const rules = new Set(defined());
    expect([...cited()].filter(([rule]) => !rules.has(rule))).toEqual([]);
  });
});
