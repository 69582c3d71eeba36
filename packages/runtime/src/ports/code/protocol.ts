import type { LogLine } from '@millrace/engine';
import type { Message } from '@millrace/messages';

/** One run of an author's code, as it goes to a thread. */
export interface CodeJob {
  /** The body of an async function of `input`. */
  readonly source: string;
  /** JSON text of the input. */
  readonly input: string;
  /** The numbers in it that a double cannot hold. */
  readonly exact: readonly ExactNumber[];
  readonly timeoutMs: number;
  readonly memoryBytes: number;
  readonly maxOutputBytes: number;
}

/** Where a number stands in the input, its digits, and whether it is whole. */
export type ExactNumber = readonly [path: readonly (string | number)[], digits: string, isInteger: boolean];

export type CodeFailure = 'code_error' | 'code_timeout' | 'code_memory' | 'code_output_too_large';

/** What came of a run; `text` is the result's JSON text. */
export type CodeOutcome =
  | { readonly kind: 'value'; readonly text: string }
  | { readonly kind: 'failure'; readonly code: CodeFailure; readonly message: Message };

/**
 * What a thread says: that it can be used, a line of the console at once (it may be killed), and the end of a run with the
 * memory it took, texts of input and result included.
 */
export type ThreadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'log'; readonly line: LogLine }
  | { readonly kind: 'end'; readonly outcome: CodeOutcome; readonly usedBytes: number };
