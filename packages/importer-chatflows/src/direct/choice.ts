import type { JsonValue } from '@millrace/engine';
import { template } from '@millrace/importer-kit/refs';
import type { DirectStep } from './maker.ts';

/** Asks a model which of some descriptions fits, and branches by its answer. */
export function chooseByModel(
  step: DirectStep,
  asked: {
    readonly model: { [name: string]: JsonValue };
    readonly instructions: readonly string[];
    readonly prompt: JsonValue;
    readonly choices: readonly string[];
  },
): { readonly number: string; readonly id: string; readonly handles: readonly string[] } {
  const listed = asked.choices.map((name, index) => `${index + 1}: ${name}`).join('\n');
  const asking = step.add('ai.generate', {
    ...asked.model,
    system: ['Say which of these fits best, by its number.', listed, ...asked.instructions].join('\n'),
    prompt: asked.prompt,
    output: 'json',
    schema: {
      type: 'object',
      properties: { choice: { type: 'integer', minimum: 1, maximum: asked.choices.length } },
      required: ['choice'],
    },
  });
  const number = `nodes.${asking}.output.json.choice`;
  const handles = asked.choices.map((_, index) => `choice ${index + 1}`);
  const id = step.add(
    'core.switch',
    {
      cases: handles.map((name, index) => ({
        name,
        conditions: [{ left: template(number), operator: 'equals', right: index + 1 }],
      })),
    },
    { suffix: 'branch' },
  );
  return { number, id, handles };
}
