import { escapeHtml } from '@millrace/http/html';
import { message } from '@millrace/messages';
import type { Choice } from '@millrace/service/callbacks/store';
import type { FieldFault, FormField } from '@millrace/triggers';
import { type Entered, optionalMark, renderField } from '../pages/fields.ts';
import { type HostedPage, saying } from '../pages/hosted-page.ts';
import type { Reader } from '../pages/reader.ts';
import { named } from './approval-texts.ts';

export type ApprovalPage =
  | {
      readonly kind: 'open';
      readonly title: string;
      readonly message: string;
      readonly choices: readonly Choice[];
      /** Id of the choice preselected by a link; null for none. */
      readonly ready: string | null;
      readonly expiresAt: Date;
      readonly fields: readonly FormField[];
      /** What was entered so far. */
      readonly entered: EnteredDecision;
      readonly faults: readonly FieldFault[];
      /** What was wrong with the submitted form. */
      readonly problem: string | null;
    }
  | { readonly kind: 'closed'; readonly title: string; readonly heading: string; readonly text: string };

/** What somebody has entered on the page. */
export interface EnteredDecision {
  readonly comment: string;
  readonly name: string;
  /** By the names of the fields. */
  readonly answers: Entered;
}

/** Inputs of fields begin like this, and those of the page don't. */
export const FIELD_PREFIX = 'field.';

export const MAX_COMMENT = 5_000;
export const MAX_NAME = 200;

/** The page in the reader's language. */
export function approvalPage(page: ApprovalPage, reader: Reader): HostedPage {
  if (page.kind === 'closed') return saying(page.title, page.heading, page.text);
  return { title: page.title, body: renderForm(page, reader) };
}

/** Placeholder in the note for the time, which is a separate element. */
const UNTIL = '\0';

function renderForm(page: Extract<ApprovalPage, { kind: 'open' }>, reader: Reader): string {
  const { say } = reader;
  const [before, after] = say(message('approval.note', { until: UNTIL })).split(UNTIL);
  const problem =
    page.problem === null ? '' : `<p class="problem" role="alert">${escapeHtml(page.problem)}</p>\n`;
  const text = page.message === '' ? '' : `<p class="message">${escapeHtml(page.message)}</p>\n`;
  return `<h1>${escapeHtml(page.title)}</h1>
${problem}${text}<form method="post" action="?">
${renderFields(page, reader)}<label for="comment">${escapeHtml(say(message('approval.comment')))}${optionalMark(reader)}</label>
<textarea id="comment" name="comment" maxlength="${MAX_COMMENT}">${page.entered.comment === '' ? '' : `\n${escapeHtml(page.entered.comment)}`}</textarea>
<label for="name">${escapeHtml(say(message('approval.name')))}${optionalMark(reader)}</label>
<input id="name" name="name" maxlength="${MAX_NAME}" autocomplete="name"${page.entered.name === '' ? '' : ` value="${escapeHtml(page.entered.name)}"`}>
<div class="choices">
${page.choices.map((choice) => renderButton(named(choice, reader), page)).join('\n')}
</div>
</form>
<p class="note">${before}${formatTime(page.expiresAt)}${after}</p>`;
}

function renderFields(
  { fields, entered, faults }: Extract<ApprovalPage, { kind: 'open' }>,
  reader: Reader,
): string {
  const faultOf = new Map(faults.map(({ name, message: fault }) => [name, reader.say(fault)]));
  const answers = new Map([...entered.answers].map(([name, texts]) => [`${FIELD_PREFIX}${name}`, texts]));
  return fields
    .map((field, index) => {
      const around = { id: `field-${index}`, entered: answers, fault: faultOf.get(field.name), reader };
      return `${renderField({ ...field, name: `${FIELD_PREFIX}${field.name}` }, around)}\n`;
    })
    .join('');
}

function renderButton(
  { id, label }: Choice,
  { ready, fields }: Extract<ApprovalPage, { kind: 'open' }>,
): string {
  const isReady = id === ready ? ' class="ready" autofocus' : '';
  // The browser would ask for fields of other choices; the service checks those of this one.
  const isFree = fields.some(({ only_with: only = id }) => only !== id) ? ' formnovalidate' : '';
  return `<button type="submit" name="choice" value="${escapeHtml(id)}"${isReady}${isFree}>${escapeHtml(label)}</button>`;
}

function formatTime(moment: Date): string {
  return `<time datetime="${moment.toISOString()}">${moment.toISOString().slice(0, 16).replace('T', ' ')} UTC</time>`;
}
