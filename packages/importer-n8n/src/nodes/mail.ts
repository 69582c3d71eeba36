import { type JsonValue, own } from '@millrace/engine';
import { type Shape, template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { arrayOf, objectOf, textOf } from '../read.ts';
import type { Step } from '../step.ts';
import { pairsOf } from './service-values-more.ts';
import { textSetting } from './stores.ts';

const OPERATIONS: { readonly [name: string]: string } = {
  'message.send': 'send_message',
  'email.send': 'send_message',
  'draft.create': 'create_draft',
};

/** An e-mail that Gmail sends or keeps as a draft; null for replies, which Gmail wants in another form. */
export function gmailMail(step: Step): readonly Out[] | null {
  const name = `${step.text('resource') || 'message'}.${step.text('operation') || 'send'}`;
  const operation = own(OPERATIONS, name);
  const to = ['sendTo', 'toEmail', 'options.sendTo'].find((path) => isGiven(step.raw(path)));
  if (operation === undefined || to === undefined || step.raw('options.threadId') !== undefined) return null;
  const isHtml = step.text('emailType', step.node.version >= 2 ? 'html' : 'text') === 'html';
  const names = arrayOf(step.raw('options.attachmentsUi.attachmentsBinary')).flatMap((each) =>
    (textOf(objectOf(each).property) ?? 'data').split(','),
  );
  step.approximate(message('import.made_operation'));
  step.approximate(message('import.choose_credential'));
  const id = step.add(`connector.gmail.${operation}`, {
    credential_id: 0,
    to: textSetting(step.param(to)),
    subject: textSetting(step.param('subject', '')),
    text: textSetting(step.value(step.raw('message') ?? step.raw('htmlMessage') ?? '')),
    format: isHtml ? 'html' : 'plain',
    ...filesOf(step, names),
    ...given(step, { cc: 'options.ccList', bcc: 'options.bccList', reply_to: 'options.replyTo' }),
  });
  return [step.one(`nodes.${id}.output`)];
}

function isGiven(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** A mail that Outlook or SendGrid sends; null for anything else. */
export function serviceMail(step: Step): readonly Out[] | null {
  const { kind } = step.node;
  if ((step.text('operation') || 'send') !== 'send') return null;
  if (kind === 'microsoftOutlook')
    return (step.text('resource') || 'message') === 'message' ? outlookMail(step) : null;
  return kind === 'sendGrid' && (step.text('resource') || 'mail') === 'mail' ? sendGridMail(step) : null;
}

function outlookMail(step: Step): readonly Out[] | null {
  if (!isGiven(step.raw('toRecipients'))) return null;
  const names = isTool(step)
    ? []
    : arrayOf(step.raw('additionalFields.attachments.attachments')).map(
        (each) => textOf(objectOf(each).binaryPropertyName) ?? 'data',
      );
  // Without this setting, n8n sends none, and Outlook takes the content for plain text.
  const isHtml = step.text('additionalFields.bodyContentType').toLowerCase() === 'html';
  return made(
    step,
    'connector.microsoft_outlook.send_message',
    {
      to: textSetting(step.param('toRecipients')),
      subject: textSetting(step.param('subject', '')),
      content: textSetting(step.param('bodyContent', '')),
      format: isHtml ? 'HTML' : 'Text',
      ...filesOf(step, names),
      ...given(step, {
        cc: 'additionalFields.ccRecipients',
        bcc: 'additionalFields.bccRecipients',
        reply_to: 'additionalFields.replyTo',
        from: 'additionalFields.from',
      }),
      ...(step.raw('additionalFields.saveToSentItems') === false ? { save: false } : {}),
    },
    { success: ['sent'] },
  );
}

function sendGridMail(step: Step): readonly Out[] | null {
  if (!isGiven(step.raw('toEmail'))) return null;
  const attached = isTool(step) ? null : textOf(step.raw('additionalFields.attachments'));
  const mail = {
    to: textSetting(step.param('toEmail')),
    from: textSetting(step.param('fromEmail', '')),
    ...given(step, {
      from_name: 'fromName',
      cc: 'additionalFields.ccEmail',
      bcc: 'additionalFields.bccEmail',
      reply_to: 'additionalFields.replyToEmail',
    }),
    ...filesOf(step, (attached ?? '').split(',')),
  };
  const shape = { messageId: ['message_id'] };
  if (step.raw('dynamicTemplate') === true) {
    const filled = {
      template_id: textSetting(step.param('templateId', '')),
      data: pairsOf(step, 'dynamicTemplateFields.fields', 'key', 'value'),
    };
    return made(step, 'connector.sendgrid.send_template', { ...mail, ...filled }, shape);
  }
  const content = {
    subject: textSetting(step.param('subject', '')),
    content: textSetting(step.param('contentValue', '')),
    format: step.text('contentType') === 'text/html' ? 'text/html' : 'text/plain',
  };
  return made(step, 'connector.sendgrid.send_email', { ...mail, ...content }, shape);
}

/** A model has no files to attach. */
function isTool(step: Step): boolean {
  return step.toolArguments !== null;
}

/** Settings by the parameters that say them, without those that say nothing. */
function given(step: Step, paths: { readonly [setting: string]: string }): { [name: string]: JsonValue } {
  return Object.fromEntries(
    Object.entries(paths).flatMap(([setting, path]): [string, JsonValue][] =>
      isGiven(step.raw(path)) ? [[setting, textSetting(step.param(path))]] : [],
    ),
  );
}

function filesOf(step: Step, names: readonly string[]): { [name: string]: JsonValue } {
  const files = names.map((name) => name.trim()).filter((name) => name !== '');
  return files.length === 0 ? {} : { attachments: files.map((name) => template(step.file(name))) };
}

function made(
  step: Step,
  type: string,
  config: { readonly [name: string]: JsonValue },
  shape: Shape,
): readonly Out[] {
  step.approximate(message('import.made_operation'));
  step.approximate(message('import.choose_credential'));
  const id = step.add(type, { credential_id: 0, ...config });
  return [step.one(`nodes.${id}.output`, shape)];
}
