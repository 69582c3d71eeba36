import i18next from 'i18next';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wantJapanese } from './japanese.ts';
import { loadMessagesIn } from './messages.ts';
import { translateMessage } from './translate-message.ts';

beforeAll(() =>
  i18next.init({ lng: 'en', fallbackLng: 'en', resources: {}, interpolation: { escapeValue: false } }),
);
afterAll(async () => {
  await wantJapanese(false);
  await i18next.changeLanguage('en');
});

const isThere = (part: string) => i18next.hasResourceBundle('ja', part);
const ANSWER = JSON.stringify({
  items: [
    { message: 'Nothing is wrong.', key: 'egress.unheard_of', params: { problem: { key: 'secrets.x' } } },
  ],
  output: { key: 'a.b', text: '"key":"doctor.x"' },
});

test('the texts of messages in an answer are there before it is handed on, and no others', async () => {
  await loadMessagesIn(ANSWER);
  expect(['egress', 'secrets', 'doctor'].filter(isThere)).toEqual([]);
  await wantJapanese(true);
  expect(['egress', 'secrets', 'doctor'].filter(isThere)).toEqual(['egress', 'secrets']);
  await loadMessagesIn('{"message":"There is nothing at this path.","key":"api.path_not_found","params":{}}');
  await i18next.changeLanguage('ja');
  expect(translateMessage({ message: 'English', key: 'api.path_not_found', params: {} })).toMatch(/[ぁ-ん]/);
});
