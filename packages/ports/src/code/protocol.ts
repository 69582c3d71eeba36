import type { CodeLanguage, LogLine } from '@millrace/engine';
import type { Message } from '@millrace/messages';
import type { ConnectorJob, ConnectorOutcome } from '../connectors/protocol.ts';
import type { ContentJob, ContentOutcome } from '../contents/protocol.ts';
import type { DocumentJob, DocumentOutcome } from '../documents/protocol.ts';
import type { SchemaJob, SchemaOutcome } from '../schema/protocol.ts';
import type { PythonImage } from './python/interpreter.ts';

/** What a thread runs. */
export type Job = CodeJob | DocumentJob | SchemaJob | ContentJob | ConnectorJob;

/** What it comes to. */
export type JobOutcome = CodeOutcome | DocumentOutcome | SchemaOutcome | ContentOutcome | ConnectorOutcome;

/** One run of an author's code, as sent to a thread. */
export interface CodeJob {
  readonly kind: 'code';
  readonly language: CodeLanguage;
  /** The body of a function of `input`, in JavaScript of an async one. */
  readonly source: string;
  /** JSON text of the input. */
  readonly input: string;
  /** Its numbers that don't fit in a double. */
  readonly exact: readonly ExactNumber[];
  readonly timeoutMs: number;
  readonly memoryBytes: number;
  readonly maxOutputBytes: number;
  /** What another thread made of Python; added by the pool. */
  readonly image?: PythonImage;
}

/** A number's path in the input, its digits, and whether it is an integer. */
export type ExactNumber = readonly [path: readonly (string | number)[], digits: string, isInteger: boolean];

export type CodeFailure =
  | 'code_error'
  | 'code_timeout'
  | 'code_memory'
  | 'code_output_too_large'
  | 'code_unavailable';

/** The outcome of a run; `text` is the result's JSON text. */
export type CodeOutcome =
  | { readonly kind: 'value'; readonly text: string }
  | { readonly kind: 'failure'; readonly code: CodeFailure; readonly message: Message };

/**
 * A message from a thread: it is ready, a console line (sent at once, as the thread may be killed), Python that others can start from, code
 * that begins only now that its interpreter is there, or a run ended, with the memory it took including the text of input and result.
 */
export type ThreadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'log'; readonly line: LogLine }
  | { readonly kind: 'image'; readonly image: PythonImage }
  | { readonly kind: 'start' }
  | { readonly kind: 'end'; readonly outcome: JobOutcome; readonly usedBytes: number };
