import type { JsonValue } from '@millrace/engine';
import { template } from '@millrace/importer-kit/refs';
import type { DirectStep } from './maker.ts';

/** As many turns of a conversation are kept. */
const MAX_TURNS = 50;
/** Conversations are forgotten after so long without a turn. */
export const KEPT_S = 90 * 86_400;

/** Adds a turn to a conversation in the data store. `history`: the entry as it was. */
export function keepTurn(
  step: DirectStep,
  turn: {
    readonly history: string;
    readonly key: string;
    readonly question: JsonValue;
    readonly answer: JsonValue;
  },
): void {
  const id = step.add(
    'core.code',
    {
      code: `const turns = [...(input.turns ?? []), { user: input.question, assistant: input.answer }];\nreturn { count: (input.count ?? 0) + 1, turns: turns.slice(-${MAX_TURNS}) };`,
      input: {
        turns: template(`${turn.history}.turns`),
        count: template(`${turn.history}.count`),
        question: turn.question,
        answer: turn.answer,
      },
    },
    { suffix: 'turn' },
  );
  step.add(
    'data.store',
    {
      operation: 'set',
      key: turn.key,
      value: template(`nodes.${id}.output.result`),
      expires_in_s: KEPT_S,
    },
    { suffix: 'remember' },
  );
}
