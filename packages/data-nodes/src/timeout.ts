import { Type } from 'typebox';

interface TimeoutOptions {
  readonly description?: string;
  readonly defaultMs?: number;
}

/** The setting of a node that has a connection of its own for each attempt. */
export function timeoutProperty(maxMs: number, { description, defaultMs }: TimeoutOptions = {}) {
  return Type.Integer({
    title: 'Timeout',
    description: description ?? 'After how many milliseconds the connection is closed.',
    minimum: 1,
    maximum: maxMs,
    default: defaultMs ?? 10_000,
  });
}

/** The time limit of such a node's attempts: the setting decides, and waiting for a connection is added. */
export function attemptLimitMs(maxMs: number): number {
  return maxMs + 30_000;
}
