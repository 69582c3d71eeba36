import type { JsonObject } from '@millrace/engine';
import { expect, it } from 'vitest';
import { configOf, flowOf, n8n, read, START } from '../testing.ts';

/** A mail behind a request that gets a file. */
function sent(type: string, parameters: JsonObject, version = 1) {
  const options = { response: { response: { responseFormat: 'file' } } };
  const result = read(
    n8n(
      {
        Start: START,
        Get: {
          type: 'httpRequest',
          version: 4.2,
          parameters: { url: 'https://a.example.com/f.pdf', options },
        },
        Mail: { type, version, parameters },
      },
      [
        ['Start', 'Get'],
        ['Get', 'Mail'],
      ],
    ),
  );
  const types = flowOf(result).nodes.map((node) => node.type);
  return { type: types.at(-1), config: configOf(result, 'Mail') };
}

it('a mail of Outlook keeps its attachments', () => {
  const attachments = { attachments: [{ binaryPropertyName: 'data' }] };
  const given = {
    toRecipients: 'a@example.com',
    subject: 'S',
    bodyContent: '<b>Hi</b>',
    additionalFields: { attachments },
  };
  expect(sent('microsoftOutlook', given, 2)).toEqual({
    type: 'connector.microsoft_outlook.send_message',
    config: {
      ...{ credential_id: 0, to: 'a@example.com', subject: 'S', content: '<b>Hi</b>', format: 'HTML' },
      attachments: ['{{nodes.get.output.body}}'],
    },
  });
});

it('so does one of SendGrid', () => {
  const given = {
    ...{
      toEmail: 'a@example.com',
      fromEmail: 'b@example.com',
      fromName: 'B',
      subject: 'S',
      contentValue: 'Hi',
    },
    additionalFields: { attachments: 'data' },
  };
  expect(sent('sendGrid', given)).toEqual({
    type: 'connector.sendgrid.send_email',
    config: {
      ...{ credential_id: 0, to: 'a@example.com', from: 'b@example.com', from_name: 'B', subject: 'S' },
      ...{ content: 'Hi', format: 'text/plain', attachments: ['{{nodes.get.output.body}}'] },
    },
  });
});

it('without attachments, they are what they were', () => {
  const given = { toRecipients: 'a@example.com', subject: 'S', bodyContent: 'Hi' };
  expect(sent('microsoftOutlook', given, 2).config).not.toHaveProperty('attachments');
  expect(sent('sendGrid', { toEmail: 'a@example.com' }).config).not.toHaveProperty('attachments');
});
