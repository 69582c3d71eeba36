import type { JsonValue } from '@millrace/engine';
import { template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { arrayOf, objectOf, textOf } from '../read.ts';
import type { Step } from '../step.ts';
import { textSetting } from './stores.ts';

const OPERATIONS: { readonly [name: string]: string } = {
  'message.send': 'send_message',
  'email.send': 'send_message',
  'draft.create': 'create_draft',
};

/** An e-mail that Gmail sends or keeps as a draft; null for replies, which Gmail wants in another form. */
export function gmailMail(step: Step): readonly Out[] | null {
  const name = `${step.text('resource') || 'message'}.${step.text('operation') || 'send'}`;
  const operation = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined;
  const to = ['sendTo', 'toEmail', 'options.sendTo'].find((path) => isGiven(step.raw(path)));
  if (operation === undefined || to === undefined || step.raw('options.threadId') !== undefined) return null;
  const isHtml = step.text('emailType', step.node.version >= 2 ? 'html' : 'text') === 'html';
  const optional = (setting: string, path: string): { [name: string]: JsonValue } =>
    isGiven(step.raw(path)) ? { [setting]: textSetting(step.param(path)) } : {};
  const names = arrayOf(step.raw('options.attachmentsUi.attachmentsBinary'))
    .flatMap((each) => (textOf(objectOf(each).property) ?? 'data').split(','))
    .map((each) => each.trim());
  step.approximate(message('import.made_operation'));
  step.approximate(message('import.choose_credential'));
  const id = step.add(`connector.gmail.${operation}`, {
    credential_id: 0,
    to: textSetting(step.param(to)),
    subject: textSetting(step.param('subject', '')),
    text: textSetting(step.value(step.raw('message') ?? step.raw('htmlMessage') ?? '')),
    format: isHtml ? 'html' : 'plain',
    ...(names.length === 0 ? {} : { attachments: names.map((each) => template(step.file(each))) }),
    ...optional('cc', 'options.ccList'),
    ...optional('bcc', 'options.bccList'),
    ...optional('reply_to', 'options.replyTo'),
  });
  return [step.one(`nodes.${id}.output`)];
}

function isGiven(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** A mail of Outlook or SendGrid with files, which no plain call sends; null for one without. */
export function mailWithFiles(step: Step): readonly Out[] | null {
  const { kind } = step.node;
  const isSent = (step.text('operation') || 'send') === 'send';
  if (!isSent) return null;
  if (kind === 'microsoftOutlook') return outlookMail(step);
  return kind === 'sendGrid' && (step.text('resource') || 'mail') === 'mail' ? sendGridMail(step) : null;
}

function outlookMail(step: Step): readonly Out[] | null {
  const names = arrayOf(step.raw('additionalFields.attachments.attachments')).map(
    (each) => textOf(objectOf(each).binaryPropertyName) ?? 'data',
  );
  if (names.length === 0 || !isGiven(step.raw('toRecipients'))) return null;
  const isHtml = step.text('additionalFields.bodyContentType', 'html').toLowerCase() === 'html';
  return made(step, 'connector.microsoft_outlook.send_message', {
    to: textSetting(step.param('toRecipients')),
    subject: textSetting(step.param('subject', '')),
    content: textSetting(step.param('bodyContent', '')),
    format: isHtml ? 'HTML' : 'Text',
    attachments: filesOf(step, names),
  });
}

function sendGridMail(step: Step): readonly Out[] | null {
  const given = textOf(step.raw('additionalFields.attachments'));
  if (given === null || given === '' || step.raw('dynamicTemplate') === true) return null;
  const isHtml = step.text('contentType') === 'text/html';
  return made(step, 'connector.sendgrid.send_email', {
    to: textSetting(step.param('toEmail', '')),
    from: textSetting(step.param('fromEmail', '')),
    from_name: textSetting(step.param('fromName', '')),
    subject: textSetting(step.param('subject', '')),
    content: textSetting(step.param('contentValue', '')),
    format: isHtml ? 'text/html' : 'text/plain',
    attachments: filesOf(step, given.split(',')),
  });
}

function filesOf(step: Step, names: readonly string[]): JsonValue {
  return names.map((name) => template(step.file(name.trim())));
}

function made(step: Step, type: string, config: { readonly [name: string]: JsonValue }): readonly Out[] {
  step.approximate(message('import.made_operation'));
  step.approximate(message('import.choose_credential'));
  const id = step.add(type, { credential_id: 0, ...config });
  return [step.one(`nodes.${id}.output`)];
}
