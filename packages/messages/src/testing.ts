import { inEnglish } from './english.ts';
import type { Message } from './message.ts';

/** Matches a message, or a sentence, whose English holds a text or fits an expression. Stands where a value is expected. */
export function saying(expected: string | RegExp): { asymmetricMatch(said: Message | string): boolean } {
  return {
    asymmetricMatch(said) {
      const text = inEnglish(said);
      return typeof expected === 'string' ? text.includes(expected) : expected.test(text);
    },
  };
}
