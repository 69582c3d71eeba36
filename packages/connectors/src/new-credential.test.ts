import { expect, test } from 'vitest';
import { newCredentialFor } from './new-credential.ts';

const using = (type: string, config = {}) => ({ type, config });

test('begins with what the service of the nodes says', () => {
  expect(
    newCredentialFor([using('connector.slack.send_message'), using('trigger.slack.new_message')]),
  ).toEqual(newCredentialFor([using('connector.slack.send_message')]));
  expect(newCredentialFor([using('http.request'), using('chat.notify')])).toBeNull();
});

test('begins with what several services agree on, at the hosts of all of them', () => {
  const start = newCredentialFor([
    using('connector.google_sheets.append_rows'),
    using('connector.google_drive.download_file'),
    using('core.set'),
  ]);
  expect(start).toEqual({
    name: 'Google Sheets, Google Drive',
    hosts: ['sheets.googleapis.com', 'www.googleapis.com'],
    fields: {},
  });
});

test.each([
  ['the variable that the node reads', { subdomain: '{{vars.desk}}' }, '{{desk}}.zendesk.com'],
  ['what is no variable alone', { subdomain: '{{vars.desk}}-eu' }, undefined],
  ['nothing', {}, undefined],
])('names settings in the host by variables: %s', (_what, config, host) => {
  const start = newCredentialFor([using('connector.zendesk.update_ticket', config)]);
  expect([start?.host, start?.hosts]).toEqual([host, ['*.zendesk.com']]);
});
