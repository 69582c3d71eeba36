import type { JsonValue } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { DirectStep } from './maker.ts';

/** A model remembers at most so many messages. */
const MAX_TURNS = 50;

/**
 * The settings of a node whose model remembers the conversation of a chat.
 * @param of `part` tells several nodes apart that remember; `turns`: how many messages, null for as many as there are
 */
export function remembered(
  step: DirectStep,
  of: { readonly part: string | null; readonly turns: number | null; readonly isSummarised?: boolean },
): { readonly [name: string]: JsonValue } {
  const { part, turns, isSummarised = false } = of;
  const isLimited = turns !== null && Number.isInteger(turns) && turns > 0;
  step.approximate(message('import.own_memory'));
  return {
    memory_key: `{{trigger.data.session_id}}${part === null ? '' : `/${part.replaceAll(/[^\w-]/g, '_')}`}`,
    memory_turns: isLimited ? Math.min(turns, MAX_TURNS) : MAX_TURNS,
    ...(isSummarised ? { memory_summary: true } : {}),
  };
}
