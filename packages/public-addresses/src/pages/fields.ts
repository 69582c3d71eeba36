import { escapeHtml } from '@millrace/http/html';
import { message } from '@millrace/messages';
import { type FormField, MAX_TEXT, withPlainBreaks } from '@millrace/triggers';
import type { Reader } from './reader.ts';

/** What was entered so far, by the names of the fields; several texts for several choices. */
export type Entered = ReadonlyMap<string, readonly string[]>;

/** What surrounds a field on its page. */
interface Around {
  readonly id: string;
  readonly entered: Entered;
  readonly fault: string | undefined;
  readonly reader: Reader;
}

/** A field with its label, as HTML. @param around.entered what was entered so far, by the names of the fields */
export function renderField(field: FormField, around: Around): string {
  const { type, label, required, help } = field;
  const { id, fault, reader } = around;
  const mark = required || type === 'checkbox' ? '' : optionalMark(reader);
  const about = [
    help === '' ? '' : `<p class="help" id="${id}-help">${escapeHtml(help)}</p>`,
    fault === undefined ? '' : `<p class="fault" id="${id}-fault">${escapeHtml(fault)}</p>`,
  ].join('');
  const isGroup = type === 'choices' || (type === 'choice' && isShort(field));
  if (isGroup) {
    return `<fieldset${describedBy(field, around)}><legend>${escapeHtml(label)}${mark}</legend>${about}${options(field, around)}</fieldset>`;
  }
  if (type === 'checkbox') return `${checkbox(field, around)}${about}`;
  return `<label for="${id}">${escapeHtml(label)}${mark}</label>${about}${control(field, around)}`;
}

/** Follows the label of a field that may stay empty, as HTML. */
export function optionalMark({ say }: Reader): string {
  return ` <span class="note">${escapeHtml(say(message('form.optional')))}</span>`;
}

/** More choices are a list that opens. */
const MAX_RADIOS = 6;

function isShort({ choices }: FormField): boolean {
  return choices.length <= MAX_RADIOS;
}

function describedBy({ help }: FormField, { id, fault }: Around): string {
  const ids = [...(help === '' ? [] : [`${id}-help`]), ...(fault === undefined ? [] : [`${id}-fault`])];
  return ids.length === 0 ? '' : ` aria-describedby="${ids.join(' ')}"`;
}

function attributes(field: FormField, around: Around): string {
  const { name, required } = field;
  const { id, fault } = around;
  const isInvalid = fault === undefined ? '' : ' aria-invalid="true"';
  return ` id="${id}" name="${escapeHtml(name)}"${required ? ' required' : ''}${isInvalid}${describedBy(field, around)}`;
}

function checkbox(field: FormField, around: Around): string {
  const isTicked = (around.entered.get(field.name) ?? []).length > 0;
  return `<label class="option alone"><input type="checkbox" value="on"${attributes(field, around)}${isTicked ? ' checked' : ''}> ${escapeHtml(field.label)}</label>`;
}

function options({ type, name, choices, required }: FormField, { id, entered }: Around): string {
  const kind = type === 'choices' ? 'checkbox' : 'radio';
  const chosen = new Set(entered.get(name)?.map(withPlainBreaks));
  return choices
    .map((choice, index) => {
      const isChosen = chosen.has(withPlainBreaks(choice)) ? ' checked' : '';
      const isRequired = required && kind === 'radio' ? ' required' : '';
      return `<label class="option"><input type="${kind}" id="${id}-${index}" name="${escapeHtml(name)}" value="${escapeHtml(choice)}"${isRequired}${isChosen}> ${escapeHtml(choice)}</label>`;
    })
    .join('');
}

function control(field: FormField, around: Around): string {
  const shared = attributes(field, around);
  const [text = ''] = around.entered.get(field.name) ?? [];
  const value = ` value="${escapeHtml(text)}"`;
  switch (field.type) {
    case 'paragraph':
      // The first line break after the tag is dropped.
      return `<textarea${shared} maxlength="${MAX_TEXT}">\n${escapeHtml(text)}</textarea>`;
    case 'choice': {
      const chosen = withPlainBreaks(text);
      return `<select${shared}><option value="">${escapeHtml(around.reader.say(message('form.no_choice')))}</option>${field.choices
        .map((choice) => {
          // Without it, the value would be the text with its white space collapsed.
          const value = escapeHtml(choice);
          const isChosen = withPlainBreaks(choice) === chosen ? ' selected' : '';
          return `<option value="${value}"${isChosen}>${value}</option>`;
        })
        .join('')}</select>`;
    }
    case 'file':
      return `<input type="file"${shared}${field.accept === '' ? '' : ` accept="${escapeHtml(field.accept)}"`}${field.multiple ? ' multiple' : ''}>`;
    case 'number':
      // A text: a field for numbers drops what isn't one without a word.
      return `<input inputmode="decimal" maxlength="${MAX_TEXT}"${shared}${value}>`;
    case 'email':
      return `<input type="email" autocomplete="email" maxlength="254"${shared}${value}>`;
    case 'date':
      return `<input type="date"${shared}${value}>`;
    default:
      return `<input maxlength="${MAX_TEXT}"${shared}${value}>`;
  }
}
