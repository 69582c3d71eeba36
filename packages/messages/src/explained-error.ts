import { inEnglish } from './english.ts';
import { type Message, verbatim } from './message.ts';

/** An error shown to people: `explanation` is for them, `message` is the same in English for logs. */
export class ExplainedError extends Error {
  readonly explanation: Message;

  constructor(explanation: Message, options: { readonly cause?: unknown } = {}) {
    super(inEnglish(explanation), options.cause === undefined ? {} : { cause: options.cause });
    this.explanation = explanation;
  }
}

/** Why something was thrown: its explanation, or its own message. */
export function reasonOf(error: unknown): Message {
  if (error instanceof ExplainedError) return error.explanation;
  return verbatim(error instanceof Error ? error.message : String(error));
}
