import type { JsonObject } from '@millrace/engine';
import { expect, it } from 'vitest';
import { configOf, flowOf, n8n, outcomeOf, read, START } from '../testing.ts';

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
    additionalFields: { attachments, bodyContentType: 'html' },
  };
  expect(sent('microsoftOutlook', given, 2)).toEqual({
    type: 'connector.microsoft_outlook.send_message',
    config: {
      ...{ credential_id: 0, to: 'a@example.com', subject: 'S', content: '<b>Hi</b>', format: 'HTML' },
      attachments: ['{{nodes.get.output.body}}'],
    },
  });
});

it('a mail of SendGrid keeps its attachments', () => {
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

it('a mail of Outlook keeps its copies, where replies go to, and its sender', () => {
  const additionalFields = {
    ...{ ccRecipients: 'b@example.com,c@example.com', bccRecipients: '={{ $json.boss }}' },
    ...{ replyTo: 'd@example.com', from: 'e@example.com', saveToSentItems: false },
  };
  const given = { toRecipients: 'a@example.com, f@example.com', subject: 'S', bodyContent: 'Hi' };
  const { type, config } = sent('microsoftOutlook', { ...given, additionalFields }, 2);
  expect(type).toBe('connector.microsoft_outlook.send_message');
  expect(config).toMatchObject({
    ...{ to: 'a@example.com, f@example.com', content: 'Hi', cc: 'b@example.com,c@example.com' },
    ...{ reply_to: 'd@example.com', from: 'e@example.com', save: false },
    bcc: expect.stringMatching(/^\{\{.*boss \| string\}\}$/),
    // n8n sends no type of content unless it is set.
    format: 'Text',
  });
});

it('so does one of SendGrid', () => {
  const given = {
    ...{ toEmail: 'a@example.com', fromEmail: 'b@example.com', subject: 'S', contentValue: 'Hi' },
    additionalFields: {
      ...{ ccEmail: 'c@example.com', bccEmail: 'd@example.com,e@example.com' },
      replyToEmail: 'f@example.com',
    },
  };
  expect(sent('sendGrid', given)).toEqual({
    type: 'connector.sendgrid.send_email',
    config: {
      ...{ credential_id: 0, to: 'a@example.com', from: 'b@example.com', subject: 'S', content: 'Hi' },
      ...{ format: 'text/plain', cc: 'c@example.com', bcc: 'd@example.com,e@example.com' },
      reply_to: 'f@example.com',
    },
  });
});

it("a mail of SendGrid from a template keeps the template's values", () => {
  const given = {
    ...{ toEmail: 'a@example.com', fromEmail: 'b@example.com', fromName: 'B', dynamicTemplate: true },
    templateId: 'd-1',
    dynamicTemplateFields: { fields: [{ key: 'name', value: '={{ $json.name }}' }] },
    additionalFields: { ccEmail: 'c@example.com' },
  };
  expect(sent('sendGrid', given)).toMatchObject({
    type: 'connector.sendgrid.send_template',
    config: {
      ...{ to: 'a@example.com', from: 'b@example.com', from_name: 'B', template_id: 'd-1' },
      ...{ cc: 'c@example.com', data: { name: expect.stringContaining('name') } },
    },
  });
});

it('settings that say nothing are left out', () => {
  const additionalFields = { ccRecipients: '', bodyContentType: 'html', saveToSentItems: true };
  expect(sent('microsoftOutlook', { toRecipients: 'a@example.com', additionalFields }, 2).config).toEqual({
    ...{ credential_id: 0, to: 'a@example.com', subject: '', content: '', format: 'HTML' },
  });
});

it('other operations, and mails to nobody, are calls', () => {
  expect(sent('microsoftOutlook', { subject: 'S' }, 2).type).toBe('http.request');
  expect(sent('sendGrid', { subject: 'S' }).type).toBe('http.request');
  const draft = { resource: 'draft', operation: 'send', toRecipients: 'a@example.com' };
  expect(sent('microsoftOutlook', draft, 2).type).not.toBe('connector.microsoft_outlook.send_message');
});

it('what was sent is read by the names that it has here', () => {
  const given = { toEmail: 'a@example.com', fromEmail: 'b@example.com', subject: 'S', contentValue: 'Hi' };
  const values = { assignments: [{ name: 'id', value: '={{ $json.messageId }}', type: 'string' }] };
  const result = read(
    n8n(
      {
        Start: START,
        Mail: { type: 'sendGrid', parameters: given },
        Keep: { type: 'set', version: 3.4, parameters: { assignments: values } },
      },
      [
        ['Start', 'Mail'],
        ['Mail', 'Keep'],
      ],
    ),
  );
  expect(configOf(result, 'Keep')).toMatchObject({ values: { id: '{{nodes.mail.output.message_id}}' } });
});

it('reports what has no place', () => {
  const given = {
    toRecipients: 'a@example.com',
    additionalFields: { importance: 'High', replyTo: 'b@example.com' },
  };
  const result = read(
    n8n({ Start: START, Mail: { type: 'microsoftOutlook', version: 2, parameters: given } }, [
      ['Start', 'Mail'],
    ]),
  );
  expect(outcomeOf(result, 'Mail')).toMatchObject({
    what: expect.arrayContaining([{ key: 'import.settings_left_out', params: { names: 'importance' } }]),
  });
});
