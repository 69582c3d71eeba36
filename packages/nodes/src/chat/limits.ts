import { type Message, message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';

/** What each service counts; none counts user-perceived characters. */
const COUNTERS = {
  characters: (text: string): number => text.length,
  bytes: (text: string): number => new TextEncoder().encode(text).byteLength,
};

/**
 * Refuses what the service would refuse or silently truncate.
 * @param what the part of the message, such as `config.text`
 * @throws NodeProblem
 */
export function checkLength(
  what: string | Message,
  text: string,
  most: number,
  label: string,
  unit: keyof typeof COUNTERS = 'characters',
): void {
  const length = COUNTERS[unit](text);
  if (length <= most) return;
  const problem =
    unit === 'bytes'
      ? message('nodes.too_many_bytes', { what, length, service: label, max: most })
      : message('nodes.too_many_characters', { what, length, service: label, max: most });
  throw new NodeProblem(problem, 'message_too_long');
}

/** @throws NodeProblem */
export function checkFieldCount(count: number, most: number, label: string): void {
  if (count <= most) return;
  const what = 'config.fields';
  throw new NodeProblem(
    message('nodes.too_many_entries', { what, entries: count, service: label, max: most }),
    'message_too_long',
  );
}
