import { ChatProblem } from './service.ts';

/** Who counts, and how: characters as users see them are counted nowhere. */
const COUNTERS = {
  characters: (text: string): number => text.length,
  bytes: (text: string): number => new TextEncoder().encode(text).byteLength,
};

/**
 * Refuses what the service would refuse or cut off in silence.
 * @param what the part of the message, such as `config.text`
 * @throws ChatProblem
 */
export function checkLength(
  what: string,
  text: string,
  most: number,
  label: string,
  unit: keyof typeof COUNTERS = 'characters',
): void {
  const length = COUNTERS[unit](text);
  if (length <= most) return;
  throw new ChatProblem(
    'message_too_long',
    `${what} has ${length} ${unit} as it would be sent; ${label} takes ${most}. Shorten it, for example with the filter slice, or send several messages.`,
  );
}

/** @throws ChatProblem */
export function checkCount(what: string, count: number, most: number, label: string): void {
  if (count <= most) return;
  throw new ChatProblem('message_too_long', `${what} has ${count} entries; ${label} takes ${most}.`);
}
