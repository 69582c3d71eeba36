import { createInstance } from 'i18next';
import { describe, expect, test } from 'vitest';
import { en } from '../src/en.ts';
import { inEnglish } from '../src/english.ts';
import { ja } from '../src/ja.ts';
import { inJapanese } from '../src/japanese.ts';
import { isMessage, type Message, type MessageKey, message, readMessage, verbatim } from '../src/message.ts';
import released from '../src/released-keys.json' with { type: 'json' };
import { render } from '../src/render.ts';
import { listUses } from './sources.ts';

/** The parameters of each text, by `<part>.<name>` without the plural suffix. */
type Table = ReadonlyMap<string, ReadonlySet<string>>;

const PLACEHOLDER = /\{\{(\w+)(?:, list\(type: (?:conjunction|disjunction)\))?\}\}/g;

function textsOf(parts: {
  readonly [part: string]: { readonly [name: string]: string };
}): [string, string][] {
  return Object.entries(parts).flatMap(([part, texts]) =>
    Object.entries(texts).map(([name, text]): [string, string] => [`${part}.${name}`, text]),
  );
}

function tableOf(parts: Parameters<typeof textsOf>[0]): Table {
  const table = new Map<string, Set<string>>();
  for (const [key, text] of textsOf(parts)) {
    const isPlural = /_(one|other)$/.test(key);
    const base = key.replace(/_(one|other)$/, '');
    const params = table.get(base) ?? new Set<string>();
    table.set(base, params);
    if (isPlural) params.add('count');
    for (const [, name = ''] of text.matchAll(PLACEHOLDER)) params.add(name);
  }
  return table;
}

const plain = (table: Table): { [key: string]: string[] } =>
  Object.fromEntries(
    [...table].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, params]) => [key, [...params].toSorted()]),
  );

const english = tableOf(en);
const ENGLISH = plain(english);

describe('the texts', () => {
  test('are the same keys in both languages, with the same parameters', () => {
    expect(plain(tableOf(ja))).toEqual(ENGLISH);
  });

  test('contain no braces except those of their parameters', () => {
    const odd = [...textsOf(en), ...textsOf(ja)].filter(([, text]) =>
      /\{\{|\}\}|\$t\(/.test(text.replace(PLACEHOLDER, '')),
    );
    expect(odd).toEqual([]);
  });

  test('name fields of credentials by their labels, roles as the page does', () => {
    const names =
      /\b(?:webhook_url|base_url|api_key|org_admin|system_admin)\b|credential's (?:host|tls|security|token|username)\b/;
    expect([...textsOf(en), ...textsOf(ja)].filter(([, text]) => names.test(text))).toEqual([]);
  });

  test('keep every key that was released, with its parameters', () => {
    const kept = Object.fromEntries(Object.keys(released).map((key) => [key, ENGLISH[key]]));
    expect(kept).toEqual(released);
  });
});

describe('the sources', () => {
  const uses = listUses();

  test('name keys and parameters as literals', () => {
    expect(uses.filter(({ keys, params }) => keys.length === 0 || params === null)).toEqual([]);
  });

  test('give each text the parameters it takes', () => {
    const wrong = uses.flatMap(({ at, keys, params }) =>
      keys
        .map((key) => ({ at, key, given: params?.toSorted(), taken: ENGLISH[key] }))
        .filter(({ given, taken }) => JSON.stringify(given) !== JSON.stringify(taken)),
    );
    expect(wrong).toEqual([]);
  });

  test('use every text', () => {
    const used = new Set([...uses.flatMap(({ keys }) => keys), 'run.verbatim']);
    // A released key may still be stored.
    expect([...english.keys()].filter((key) => !used.has(key) && !Object.hasOwn(released, key))).toEqual([]);
  });
});

describe('a message', () => {
  const i18n = createInstance();
  void i18n.init({
    lng: 'en',
    fallbackLng: 'en',
    resources: { en, ja },
    ns: Object.keys(en),
    interpolation: { escapeValue: false },
  });
  const translated = (said: Message, lng: string): string =>
    render(said, (ns, name, params) =>
      i18n.t(name, { ns, lng, replace: params, count: params.count as number }),
    );

  /** With every parameter: lists where lists are expected, elsewhere data that looks like a text. */
  const samples = [...english].flatMap(([key, params]) => {
    const [part = '', name = ''] = key.split('.');
    const texts = en[part as keyof typeof en] as { readonly [name: string]: string };
    const text = texts[name] ?? texts[`${name}_other`] ?? '';
    const listed = [verbatim('a {{b}}'), verbatim('$t(c)'), verbatim('d')];
    return [1, 2].map((count) => ({
      key: key as MessageKey,
      params: Object.fromEntries(
        [...params].map((param) => [
          param,
          param === 'count' ? count : text.includes(`{{${param}, list(`) ? listed : `<{{${param}}} $& $t(x)>`,
        ]),
      ),
    }));
  });

  test('renders the same English with i18next and without', () => {
    const all = samples.map((sample) => [sample.key, inEnglish(sample)]);
    expect(samples.map((sample) => [sample.key, translated(sample, 'en')])).toEqual(all);
    expect(all.filter(([key, text]) => key === text || text === '')).toEqual([]);
  });

  test('has Japanese whatever its parameters, the same with i18next and without', () => {
    for (const sample of samples) expect(translated(sample, 'ja')).not.toBe(sample.key);
    const all = samples.map((sample) => [sample.key, inJapanese(sample)]);
    expect(samples.map((sample) => [sample.key, translated(sample, 'ja')])).toEqual(all);
  });

  test('treats its parameters as data', () => {
    const data = '{{text}} $t(run.verbatim) <b>';
    expect(inEnglish(verbatim(data))).toBe(data);
    expect(translated(verbatim(data), 'ja')).toBe(data);
  });

  test('stored as a sentence is that sentence', () => {
    expect(inEnglish(readMessage('The node "x" failed.'))).toBe('The node "x" failed.');
    expect(inEnglish(readMessage(null))).toBe('');
    const stored = message('run.verbatim', { text: 'a' });
    expect(readMessage(JSON.parse(JSON.stringify(stored)))).toEqual(stored);
  });

  test('of a later version is shown by its key', () => {
    const later: unknown = { key: 'later.unheard_of', params: { a: 1 } };
    expect(isMessage(later) && inEnglish(later)).toBe('later.unheard_of');
  });
});
