import { inEnglish } from './english.ts';
import type { Message } from './message.ts';

/** Asymmetric matcher for a message or sentence whose English contains a string or matches an expression. */
export function saying(expected: string | RegExp): { asymmetricMatch(said: Message | string): boolean } {
  return {
    asymmetricMatch(said) {
      const text = inEnglish(said);
      return typeof expected === 'string' ? text.includes(expected) : expected.test(text);
    },
  };
}
