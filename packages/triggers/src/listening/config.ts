import { Type } from 'typebox';

const SECOND_MS = 1_000;

/** What happens to what is there before the workflow listens for the first time. */
export function existingProperty(title: string, description: string) {
  return Type.Unsafe<'skip' | 'start'>({
    type: 'string',
    enum: ['skip', 'start'],
    title,
    description,
    default: 'skip',
    'x-labels': { skip: 'Skip them', start: 'Start an execution for each' },
  });
}

/** Several names, each of them a text. */
export function namesProperty(title: string, description: string, example: string) {
  return Type.Unsafe<readonly string[]>({
    type: 'array',
    title,
    description,
    items: { type: 'string', minLength: 1, maxLength: 1_000, 'x-placeholder': example },
    maxItems: 50,
    default: [],
    'x-filled': true,
  });
}

export function secondsToMs(seconds: number): number {
  return seconds * SECOND_MS;
}
