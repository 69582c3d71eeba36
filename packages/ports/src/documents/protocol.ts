import type { Conversion } from '@millrace/engine';
import type { Message } from '@millrace/messages';
import type { DocumentFailure } from './fault.ts';

/** One conversion, as sent to a thread. */
export interface DocumentJob {
  readonly kind: 'document';
  readonly text: string;
  readonly conversion: Conversion;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
}

/** `text` is the result's JSON text. */
export type DocumentOutcome =
  | { readonly kind: 'value'; readonly text: string }
  | { readonly kind: 'failure'; readonly code: DocumentFailure; readonly message: Message };
