import type { JsonValue } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { asText, textOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';
import { textSetting } from './stores.ts';
import { askFields } from './wait-form.ts';

const SECONDS: { readonly [unit: string]: number } = { minutes: 60, hours: 3_600, days: 86_400 };
const MAX_WAIT_S = 2_592_000;
const MAX_TITLE = 200;

/** "Send and wait for a response": a person is asked, and what follows gets the decision as n8n has it. */
export function askPerson(step: Step): readonly Out[] {
  const kind = step.text('responseType', 'approval');
  if (kind === 'customForm') return askFields(step, askedSubject(step), askedText(step), waitingTime(step));
  if (kind !== 'approval' && kind !== 'freeText')
    throw new Unmappable(message('import.unknown_operation', { operation: `sendAndWait (${kind})` }));
  step.approximate(message('import.asks_person'));
  const text = askedText(step);
  const id = step.add('wait.approval', {
    title: askedSubject(step),
    text,
    choices: kind === 'approval' ? approvalChoices(step) : [{ id: 'submit', label: 'Submit' }],
    ...(kind === 'freeText'
      ? { fields: [{ label: 'Response', name: 'text', type: 'paragraph', required: true }] }
      : {}),
    timeout_s: waitingTime(step),
  });
  const choices = kind === 'approval' ? ['approve', 'reject'] : ['submit'];
  // After the time is over, n8n goes on as well.
  step.continueFrom([...choices, 'timeout'].map((handle) => ({ id, handle })));
  const output = `nodes.${id}.output`;
  const data =
    kind === 'approval'
      ? { approved: `{{${output}.decision == "approve"}}` }
      : { text: `{{${output}.values.text}}` };
  const answer = step.add('core.set', { values: { data } }, { suffix: 'answer' });
  return [step.one(`nodes.${answer}.output`)];
}

function askedText(step: Step): JsonValue {
  return textSetting(step.param('message', step.param('text', '')));
}

function askedSubject(step: Step): JsonValue {
  const subject = textSetting(step.param('subject', ''));
  return subject === '' ? titleOf(step) : subject;
}

/** What is asked, in one line. */
function titleOf(step: Step): JsonValue {
  const [first = ''] = asText(step.raw('message')).replace(/^=/, '').trim().split('\n');
  return first.includes('{{') || first === '' ? step.node.name : first.slice(0, MAX_TITLE);
}

function approvalChoices(step: Step): JsonValue {
  const values = 'approvalOptions.values';
  const approve = textOf(step.raw(`${values}.approveLabel`)) ?? 'Approve';
  const reject = textOf(step.raw(`${values}.disapproveLabel`)) ?? 'Decline';
  // Here a person may always say no: with one button there, n8n waits until the time is over.
  return [
    { id: 'approve', label: plain(approve, 'Approve') },
    { id: 'reject', label: plain(reject, 'Decline') },
  ];
}

function plain(label: string, otherwise: string): string {
  return label.startsWith('=') ? otherwise : label.slice(0, 60);
}

function waitingTime(step: Step): number {
  const values = 'options.limitWaitTime.values';
  const amount = Number(step.raw(`${values}.resumeAmount`) ?? 45);
  const seconds = SECONDS[step.text(`${values}.resumeUnit`, 'minutes')] ?? 60;
  if (step.raw(values) === undefined || !Number.isFinite(amount) || amount <= 0) return MAX_WAIT_S;
  return Math.min(Math.max(Math.round(amount * seconds), 1), MAX_WAIT_S);
}
