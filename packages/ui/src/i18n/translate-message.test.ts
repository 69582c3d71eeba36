import { message } from '@millrace/messages';
import { presentMessage } from '@millrace/messages/english';
import { ja } from '@millrace/messages/ja';
import i18next from 'i18next';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { translateMessage } from './translate-message.ts';

const refusal = presentMessage(
  message('identity.role_required', {
    needed: message('identity.role_editor'),
    own: message('identity.role_viewer'),
  }),
);

beforeAll(() =>
  i18next.init({ lng: 'ja', fallbackLng: 'en', resources: { ja }, interpolation: { escapeValue: false } }),
);
beforeEach(() => i18next.changeLanguage('ja'));

describe('messages of the service', () => {
  test("are shown in the reader's language, with nested messages", async () => {
    expect(translateMessage(refusal)).toBe(
      'この操作には「編集者」の役割が必要です。あなたの役割は「閲覧者」です。',
    );
    await i18next.changeLanguage('en');
    expect(translateMessage(refusal)).toBe('This requires the Editor role; yours is Viewer.');
  });

  test('have plurals', () => {
    expect(translateMessage(presentMessage(message('api.invalid_values', { count: 1 })))).toBe(
      '入力に正しくない値が 1 件あります。',
    );
  });

  test('are English if the page has no text for them, also nested ones', () => {
    expect(translateMessage({ message: 'Later.', key: 'api.unheard_of', params: {} })).toBe('Later.');
    const params = { ...refusal.params, own: { key: 'identity.role_unheard_of' as 'identity.role_viewer' } };
    expect(translateMessage({ ...refusal, params })).toBe(refusal.message);
    expect(translateMessage({ message: 'Bad gateway' })).toBe('Bad gateway');
  });

  test('show data unchanged', () => {
    const email = '{{email}} $t(api.path_not_found) <b>';
    const said = presentMessage(message('identity.invitation_for_someone_else', { email }));
    expect(translateMessage(said)).toBe(`この招待は ${email} 宛てです。`);
  });
});
