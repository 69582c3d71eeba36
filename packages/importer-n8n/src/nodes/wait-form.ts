import type { JsonValue } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { arrayOf, asText } from '../read.ts';
import { limitOf } from '../resume.ts';
import { type Step, Unmappable } from '../step.ts';
import { fieldsOf, plainText } from './form.ts';
import { textSetting } from './stores.ts';

/** Kinds of fields that questions have, too. */
const ASKED = new Set(['text', 'email', 'number', 'date', 'paragraph', 'choice', 'choices']);
const MAX_FIELDS = 30;

/** Waiting for somebody who fills in a form: a question with fields. */
export function waitForForm(step: Step): readonly Out[] {
  const title = plainText(step.raw('formTitle')) || step.node.name;
  const answer = askFields(step, title, textSetting(step.param('formDescription', '')), limitOf(step.node));
  return answer.map((out) => ({ ...out, ref: { ...out.ref, path: `${out.ref.path}.data` } }));
}

/** A question with the fields of the node, and their values as `data`. */
export function askFields(step: Step, title: JsonValue, text: JsonValue, seconds: number): readonly Out[] {
  const fields = fieldsOf(arrayOf(step.raw('formFields.values')));
  if (fields.length > MAX_FIELDS || fields.some(({ type }) => !ASKED.has(asText(type ?? ''))))
    throw new Unmappable(message('import.wait_for_call'));
  step.approximate(message('import.asks_person'));
  const id = step.add('wait.approval', {
    title,
    text,
    choices: [{ id: 'submit', label: plainText(step.raw('options.buttonLabel')) || 'Submit' }],
    ...(fields.length === 0 ? {} : { fields }),
    timeout_s: seconds,
  });
  // After the time is over, n8n goes on as well.
  step.continueFrom(['submit', 'timeout'].map((handle) => ({ id, handle })));
  const answer = step.add(
    'core.set',
    { values: { data: `{{nodes.${id}.output.values}}` } },
    { suffix: 'answer' },
  );
  return [step.one(`nodes.${answer}.output`)];
}
