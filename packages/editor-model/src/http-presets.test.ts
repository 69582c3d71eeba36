import { expect, test } from 'vitest';
import { httpPresetFor } from './http-presets.ts';

test.each([
  ['stripe', 'Stripe', 'https://api.stripe.com/v1/'],
  ['  GitHub issues', 'GitHub', 'https://api.github.com/'],
  ['翻訳', 'DeepL', 'https://api.deepl.com/v2/translate'],
])('%s has a name and an address', (search, label, url) => {
  expect(httpPresetFor(search)).toEqual({ label, config: { url } });
});

test('any other service has at least the name that was searched', () => {
  expect(httpPresetFor(' Salesforce ')).toEqual({ label: 'Salesforce', config: {} });
});
