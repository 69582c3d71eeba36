import { type JsonObject, type JsonValue, own } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { arrayOf, type N8nNode, objectOf, parameterAt, parameterOf, textOf } from '../read.ts';

type Config = { readonly [name: string]: JsonValue };

/** Kinds of fields, by what n8n calls them. */
const KINDS: { readonly [type: string]: string } = {
  text: 'text',
  email: 'email',
  number: 'number',
  date: 'date',
  textarea: 'paragraph',
  dropdown: 'choice',
  radio: 'choice',
  checkbox: 'choices',
  file: 'file',
  hiddenField: 'hidden',
};

/** A hosted form: its fields, which have the names that expressions read, and its texts. */
export function formOf(node: N8nNode): {
  readonly config: { [name: string]: JsonValue };
  readonly notes: readonly Message[];
} {
  const { parameters } = node;
  const given = arrayOf(parameterAt(parameters, 'formFields.values')).map(objectOf);
  const fields = fieldsOf(given);
  const after = objectOf(parameterOf(node, 'options.respondWithOptions.values'));
  const redirect = plainText(after.redirectUrl);
  const texts = {
    description: plainText(parameters.formDescription),
    button: plainText(parameterOf(node, 'options.buttonLabel')),
    thanks: plainText(after.formSubmittedText),
    redirect_url: redirect.startsWith('https://') ? redirect : '',
  };
  const isExact =
    fields.length === given.length &&
    given.every(({ fieldType }) => Object.hasOwn(KINDS, textOf(fieldType) ?? 'text')) &&
    (textOf(parameters.responseMode) ?? 'onReceived') === 'onReceived';
  return {
    config: {
      title: plainText(parameters.formTitle),
      ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== '')),
      fields,
    },
    notes: isExact ? [] : [message('import.form_trigger')],
  };
}

/** Fields of a form or one of its pages, without what isn't known here. */
export function fieldsOf(given: readonly JsonValue[]): readonly Config[] {
  return given.map(objectOf).flatMap(fieldOf);
}

/** A text that isn't an expression: a form is the same for everybody. */
export function plainText(value: JsonValue | undefined): string {
  const text = textOf(value) ?? '';
  return text.startsWith('=') ? '' : text;
}

/** None for pieces of HTML. */
function fieldOf(given: JsonObject): readonly Config[] {
  const n8nType = textOf(given.fieldType) ?? 'text';
  if (n8nType === 'html') return [];
  const label = plainText(given.fieldLabel);
  // Characters that no name of a field may have; names that begin with _ are the form's own.
  const name = (plainText(given.fieldName) || label)
    .replaceAll(/[{}"\\\p{Cc}]/gu, '')
    .replace(/^[_\s]+|\s+$/g, '');
  const single = own(KINDS, n8nType) ?? 'text';
  const type = single === 'choice' && given.multiselect === true ? 'choices' : single;
  const choices = arrayOf(parameterAt(given, 'fieldOptions.values')).map((each) =>
    plainText(objectOf(each).option),
  );
  const value = plainText(given.fieldValue) || plainText(given.defaultValue);
  const accept = plainText(given.acceptFileTypes);
  return [
    {
      label: label || name,
      name,
      type,
      ...(given.requiredField === true ? { required: true } : {}),
      ...(type === 'choice' || type === 'choices' ? { choices: [...new Set(choices.filter(Boolean))] } : {}),
      ...(value !== '' && type !== 'file' && type !== 'choices' ? { value } : {}),
      ...(type === 'file' && accept !== '' ? { accept } : {}),
      ...(type === 'file' && given.multipleFiles === true ? { multiple: true } : {}),
    },
  ];
}
