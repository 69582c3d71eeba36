import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { en } from './en.ts';
import { ja } from './ja.ts';

/** Advice for all codes of errors. */
function hintsIn(language: 'en' | 'ja'): { readonly [code: string]: string } {
  const paths = globSync(`${language}/hints/*.json`, { cwd: import.meta.dirname });
  return Object.assign(
    {},
    ...paths.map((path) => JSON.parse(readFileSync(join(import.meta.dirname, path), 'utf8'))),
  );
}
const hintsEn = hintsIn('en');
const hintsJa = hintsIn('ja');

const PACKAGES = fileURLToPath(new URL('../../../', import.meta.url));
const PLURAL = /_(?:zero|one|two|few|many|other)$/;
/** i18next options beside a text's values. */
const OPTIONS = new Set(['interpolation', 'defaultValue', 'context']);

type Texts = ReadonlyMap<string, string>;

/** All texts by key: `shell.role.viewer`. */
function textsOf(part: object, prefix = ''): Texts {
  return new Map(
    Object.entries(part).flatMap(([name, value]: [string, unknown]) =>
      typeof value === 'string'
        ? [[`${prefix}${name}`, value] as const]
        : [...textsOf(value as object, `${prefix}${name}.`)],
    ),
  );
}

/** The placeholders and markup of each text, by the key used in code: plural forms are combined. */
function fillingsOf(texts: Texts): ReadonlyMap<string, ReadonlySet<string>> {
  const fillings = new Map<string, Set<string>>();
  for (const [key, text] of texts) {
    const found = [...text.matchAll(/\{\{(\w+)\}\}|<\/?(\w+)\/?>/g)].map(
      ([, value, tag]) => value ?? `<${tag}>`,
    );
    const counted = PLURAL.test(key) ? ['count'] : [];
    const name = key.replace(PLURAL, '');
    fillings.set(name, (fillings.get(name) ?? new Set()).union(new Set([...found, ...counted])));
  }
  return fillings;
}

const LANGUAGES = {
  en: textsOf({ ...en, errorHints: hintsEn }),
  ja: textsOf({ ...ja, errorHints: hintsJa }),
};
const english = fillingsOf(textsOf(en));

describe('the languages of the page', () => {
  test('have the same keys with the same values to fill in', () => {
    expect(fillingsOf(LANGUAGES.ja)).toEqual(fillingsOf(LANGUAGES.en));
  });

  test.each(['en', 'ja'] as const)('%s has every plural form of the language', (language) => {
    const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
    const keys = LANGUAGES[language];
    const missing = [...keys.keys()]
      .filter((key) => PLURAL.test(key))
      .flatMap((key) => forms.map((form) => key.replace(PLURAL, `_${form}`)))
      .filter((key) => !keys.has(key));
    expect(missing).toEqual([]);
    const foreign = [...keys.keys()].filter((key) => {
      const form = PLURAL.exec(key)?.[0].slice(1) as Intl.LDMLPluralRule | 'zero' | undefined;
      return form !== undefined && form !== 'zero' && !forms.includes(form);
    });
    expect(foreign).toEqual([]);
  });

  test.each(['en', 'ja'] as const)('call no value of a form null, in %s', (language) => {
    const ofForms = [...LANGUAGES[language]].filter(([key]) => key.startsWith('forms.'));
    expect(ofForms.length).toBeGreaterThan(100);
    expect(ofForms.filter(([, text]) => /\bnull\b/.test(text))).toEqual([]);
  });

  test('have hints only for existing error codes', () => {
    const code = sourcesOf(
      '{engine,templates,node-kit,connectors,ai-nodes,nodes,egress,runtime,polling,chat,ports,database-clients,secrets,credentials,service,operations}/src/**/*.ts',
    )
      .map(({ text }) => text)
      .join('\n');
    const left = Object.keys(hintsEn).filter((each) => !code.includes(`'${each}'`));
    expect(left).toEqual([]);
  });
});

/** A key used in code. Keys built at run time are patterns: `executions.status.${status}` matches every status. */
interface Use {
  readonly at: string;
  readonly key: string;
  readonly isPattern: boolean;
  /** The values passed; null: unknown, or the key isn't passed to `t` here. */
  readonly values: ReadonlySet<string> | null;
}

describe('the code of the page', () => {
  const uses = sourcesOf(
    '{ui,editor-model,editor,execution-pages,credential-pages,workflow-pages,web}/src/**/*.{ts,tsx}',
  ).flatMap(usesIn);
  const keysOf = ({ key, isPattern }: Use): readonly string[] => {
    if (!isPattern) return english.has(key) ? [key] : [];
    const pattern = new RegExp(`^${key.split('*').map(escaped).join('.+')}$`);
    return [...english.keys()].filter((each) => pattern.test(each));
  };

  test('uses keys that exist', () => {
    expect(uses.length).toBeGreaterThan(1000);
    expect(uses.filter((use) => keysOf(use).length === 0)).toEqual([]);
  });

  test('uses every key', () => {
    const used = new Set(uses.flatMap(keysOf));
    expect([...english.keys()].filter((key) => !used.has(key))).toEqual([]);
  });

  test('fills in every value of a text, and no other', () => {
    const faults = uses.flatMap((use) => {
      if (use.values === null) return [];
      const given = use.values;
      const wanted = new Set(
        keysOf(use).flatMap((key) => [...(english.get(key) ?? [])].filter((value) => !value.startsWith('<'))),
      );
      return [
        ...[...wanted.difference(given)].map((value) => `${use.at}: ${use.key} needs ${value}`),
        ...[...given.difference(wanted)].map((value) => `${use.at}: ${use.key} has no ${value}`),
      ];
    });
    expect(faults).toEqual([]);
  });
});

interface Source {
  readonly file: string;
  readonly text: string;
}

function sourcesOf(pattern: string): Source[] {
  return globSync(pattern, { cwd: PACKAGES })
    .filter((file) => !file.includes('.test.'))
    .map((file) => ({ file, text: readFileSync(`${PACKAGES}${file}`, 'utf8') }));
}

const KEY = new RegExp(`^(?:${Object.keys(en).join('|')})\\.[\\w.*]+$`);

/** Every string in a source file that looks like a key, with the values passed by the call around it. */
function usesIn({ file, text }: Source): Use[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const uses: Use[] = [];
  const visit = (node: ts.Node): void => {
    const key = keyIn(node);
    if (key !== null && KEY.test(key)) {
      const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      uses.push({ at: `${file}:${line}`, key, isPattern: key.includes('*'), values: valuesFor(node) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return uses;
}

/** The text of a literal, with `*` for template placeholders. */
function keyIn(node: ts.Node): string | null {
  if (node.parent !== undefined && (ts.isImportDeclaration(node.parent) || ts.isLiteralTypeNode(node.parent)))
    return null;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return null;
  return node.head.text + node.templateSpans.map(({ literal }) => `*${literal.text}`).join('');
}

/** The names of the values in `t(key, {...})`; the key may be a branch of a conditional. */
function valuesFor(key: ts.Node): ReadonlySet<string> | null {
  const around = key.parent;
  if (ts.isConditionalExpression(around) || ts.isParenthesizedExpression(around)) {
    // Each branch of a conditional may need fewer values than are passed.
    return null;
  }
  if (!ts.isCallExpression(around) || around.arguments[0] !== key) return null;
  if (!/(?:^|\.)t$/.test(around.expression.getText())) return null;
  const given = around.arguments[1];
  if (given === undefined) return new Set();
  if (!ts.isObjectLiteralExpression(given) || given.properties.some(ts.isSpreadAssignment)) return null;
  const names = given.properties.map((property) => property.name?.getText() ?? '');
  return new Set(names.filter((name) => !OPTIONS.has(name)));
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
