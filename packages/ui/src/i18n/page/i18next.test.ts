import { ja as messagesJa } from '@millrace/messages/ja';
import i18next from 'i18next';
import { createElement, type ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import * as library from 'react-i18next';
import { describe, expect, test } from 'vitest';
import { en } from '../en.ts';
import { ja } from '../ja.ts';
import ours, { I18n, type TextOptions } from './i18next.ts';
import { Trans } from './react-i18next.tsx';

const RESOURCES = { en: { translation: en }, ja: { translation: ja, ...messagesJa } };
const COUNTS = [0, 1, 2, 1.5, 1_000];

/** Keys of all texts, those of plurals without their ending, too. */
function keysOf(texts: object, prefix = ''): readonly string[] {
  return Object.entries(texts).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'string'
      ? [`${prefix}${name}`, `${prefix}${name}`.replace(/_(one|other)$/, '')]
      : keysOf(value as object, `${prefix}${name}.`),
  );
}

/** A value for each placeholder of any text; two of them are markup and a placeholder themselves. */
const VALUES = Object.fromEntries(
  [...JSON.stringify(RESOURCES).matchAll(/\{\{(\w+)\}\}/g)].map(([, name = ''], index) => [
    name,
    ['a & <b>', '{{count}}', 7, 0][index % 4],
  ]),
);

/** A list for each placeholder that has a list's format. */
const LISTS = Object.fromEntries(
  [...JSON.stringify(RESOURCES).matchAll(/\{\{(\w+), list/g)].map(([, name = '']) => [name, ['a', 'b', 'c']]),
);

const original = i18next.createInstance();
await original.init({
  lng: 'en',
  fallbackLng: 'en',
  resources: RESOURCES,
  interpolation: { escapeValue: false },
});
const own = new I18n();
await own.init({ lng: 'en', resources: RESOURCES });

describe.each(['en', 'ja'] as const)('in %s', (language) => {
  const spaces = Object.entries(RESOURCES[language]) as [string, object][];
  test.each(spaces)('every text of %s is what i18next makes of it', async (ns, texts) => {
    await original.changeLanguage(language);
    await own.changeLanguage(language);
    const options: TextOptions[] = [
      {},
      VALUES,
      { replace: VALUES },
      ...COUNTS.map((count) => ({ count })),
      LISTS,
    ];
    const keys = [...new Set(keysOf(texts)), 'common.no_text', 'none', 'common.close.at.all', 'constructor'];
    for (const key of keys) {
      for (const given of options) {
        const all = { ...given, ns } as TextOptions;
        const about = `${key} ${JSON.stringify(given)}`;
        expect(own.t(key, all), about).toBe(original.t(key as 'common.close', all as never));
        expect(own.exists(key, all), about).toBe(original.exists(key, all as never));
      }
    }
  });
});

test('a missing text is the one given for it, with its values', () => {
  expect(own.t('common.no_text', { defaultValue: 'No {{what}}', what: 'text' })).toBe('No text');
});

test('what is added stays what it was first', () => {
  const made = new I18n();
  made.addResourceBundle('en', 'translation', { a: { b: '1' } });
  made.addResourceBundle('en', 'translation', { a: { b: '2', c: '3' }, d: '4' });
  expect(made.getResourceBundle('en', 'translation')).toEqual({ a: { b: '1', c: '3' }, d: '4' });
});

test('a change of the language is told, and brings another function to translate with', async () => {
  const before = own.t;
  const told: string[] = [];
  const stop = own.subscribe(() => told.push(own.language));
  await own.changeLanguage('ja');
  stop();
  await own.changeLanguage('en');
  expect([told, own.t === before]).toEqual([['ja'], false]);
});

test('elements in a text are put where their tags are; what is filled in stays text', async () => {
  await ours.init({ lng: 'en', resources: RESOURCES });
  await i18next.use(library.initReactI18next).init({
    lng: 'en',
    resources: RESOURCES,
    interpolation: { escapeValue: false },
  });
  const cases: [key: string, count?: number][] = [
    ['common.typeToConfirm'],
    ['audit.chain.verified', 1],
    ['audit.chain.verified', 5],
    ['audit.chain.found'],
    ['account.forgotten'],
    ['system.grown'],
    ['system.shrunk'],
  ];
  const components: { [tag: string]: ReactElement } = {
    moment: createElement('time'),
    command: createElement('code'),
  };
  for (const [i18nKey, count] of cases) {
    const props = {
      i18nKey,
      values: { text: 'a', size: '1 GB' },
      components,
      ...(count === undefined ? {} : { count }),
    };
    const expected = renderToStaticMarkup(createElement(library.Trans, props as object));
    expect(renderToStaticMarkup(createElement(Trans, props)), i18nKey).toBe(expected);
  }
  const typed = createElement(Trans, { i18nKey: 'common.typeToConfirm', values: { text: '<b/>{{x}}' } });
  expect(renderToStaticMarkup(typed)).toContain('&lt;b/&gt;{{x}}');
});
