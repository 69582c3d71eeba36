import { randomBytes } from 'node:crypto';
import { escapeHtml } from '@millrace/http/html';
import { type Message, message } from '@millrace/messages';
import { type FieldFault, type FormOptions, pagesOf } from '@millrace/triggers';
import { type Entered, renderField } from '../pages/fields.ts';
import type { HostedPage } from '../pages/hosted-page.ts';
import type { Reader } from '../pages/reader.ts';

/** Inputs of the form itself. Names of fields don't begin like these. */
export const PAGE_INPUT = '_page';
export const TOKEN_INPUT = '_token';
export const BACK_INPUT = '_back';
/** Invisible: who fills it in is a program. */
export const TRAP_INPUT = '_website';

export interface ShownForm {
  readonly options: FormOptions;
  readonly entered: Entered;
  /** Index of the page. */
  readonly page: number;
  readonly faults: readonly FieldFault[];
  /** Why nothing was stored, if that isn't because of a field. */
  readonly problem: Message | null;
  /** Identifies the submission, so that it starts one execution however often it is sent. */
  readonly token: string;
  /** Where the form is submitted to. */
  readonly action: string;
}

export function newToken(): string {
  return randomBytes(16).toString('base64url');
}

/** A page of a form that works without scripts: what other pages asked for is in hidden inputs. */
export function formPage(shown: ShownForm, reader: Reader): HostedPage {
  const { options, page, faults, entered } = shown;
  const { say } = reader;
  const pages = pagesOf(options.fields);
  const { heading = '', help = '', fields = [] } = pages[page] ?? {};
  const faultOf = new Map(faults.map(({ name, message: fault }) => [name, say(fault)]));
  const isFirst = page === 0;
  const isLast = page === pages.length - 1;
  const visible = fields.filter(({ type }) => type !== 'hidden');
  const names = new Set(visible.map(({ name }) => name));
  const carried = options.fields.filter(
    ({ name, type }) => !names.has(name) && type !== 'page' && type !== 'file',
  );
  const hasFiles = visible.some(({ type }) => type === 'file');
  const parts = [
    `<h1>${escapeHtml(options.title)}</h1>`,
    isFirst && options.description !== '' ? `<p class="message">${escapeHtml(options.description)}</p>` : '',
    pages.length > 1
      ? `<p class="note">${escapeHtml(say(message('form.page', { page: page + 1, pages: pages.length })))}</p>`
      : '',
    heading === '' ? '' : `<h2>${escapeHtml(heading)}</h2>`,
    help === '' ? '' : `<p class="help">${escapeHtml(help)}</p>`,
    summary(shown, hasFiles, reader),
    `<form method="post" action="${escapeHtml(shown.action)}"${hasFiles ? ' enctype="multipart/form-data"' : ''}>`,
    hidden(PAGE_INPUT, String(page)),
    hidden(TOKEN_INPUT, shown.token),
    `<div class="trap" aria-hidden="true"><label>${escapeHtml(say(message('form.trap')))} <input name="${TRAP_INPUT}" tabindex="-1" autocomplete="off"></label></div>`,
    ...carried.flatMap(({ name }) => (entered.get(name) ?? []).map((value) => hidden(name, value))),
    ...visible.map((field, index) =>
      renderField(field, { id: `field-${index}`, entered, fault: faultOf.get(field.name), reader }),
    ),
    `<div class="choices">`,
    `<button type="submit" class="ready">${escapeHtml(buttonOf(options, isLast, reader))}</button>`,
    isFirst
      ? ''
      : `<button type="submit" name="${BACK_INPUT}" value="1" formnovalidate>${escapeHtml(say(message('form.back')))}</button>`,
    '</div>',
    '</form>',
  ];
  const target = options.redirect_url === '' ? {} : { target: new URL(options.redirect_url).origin };
  const body = parts.filter((part) => part !== '').join('\n');
  return { title: options.title, body, ...target, frames: options.allowed_origins };
}

function buttonOf({ button }: FormOptions, isLast: boolean, { say }: Reader): string {
  if (!isLast) return say(message('form.next'));
  return button === '' ? say(message('form.submit')) : button;
}

/** Why the page is shown again. */
function summary({ faults, problem }: ShownForm, hasFiles: boolean, { say }: Reader): string {
  if (faults.length === 0 && problem === null) return '';
  const said = [
    problem ?? message('form.faults', { count: faults.length }),
    ...(hasFiles ? [message('form.choose_again')] : []),
  ];
  return `<p class="problem" role="alert">${said.map((each) => escapeHtml(say(each))).join(' ')}</p>`;
}

function hidden(name: string, value: string): string {
  return `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`;
}
