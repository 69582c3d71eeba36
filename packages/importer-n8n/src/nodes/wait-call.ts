import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { type Step, Unmappable } from '../step.ts';

/** What the call brought that ends a wait, as n8n's Wait node passes it on. After the time is over, n8n goes on as well. */
export function resumed(step: Step): readonly Out[] {
  const { resumedBy: id } = step;
  if (id === null) throw new Unmappable(message('import.only_in_original', { part: '$execution.resumeUrl' }));
  step.approximate(message('import.resumed_by_post'));
  step.continueFrom(['out', 'timeout'].map((handle) => ({ id, handle })));
  const answer = step.add(
    'core.set',
    { values: { body: `{{nodes.${id}.output}}`, headers: {}, params: {}, query: {} } },
    { suffix: 'answer' },
  );
  return [step.one(`nodes.${answer}.output`)];
}
