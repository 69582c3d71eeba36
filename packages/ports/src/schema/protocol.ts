import type { SchemaError } from '@millrace/engine';

/** One check of a value by a JSON Schema, as sent to a thread. */
export interface SchemaJob {
  readonly kind: 'schema';
  /** JSON text. */
  readonly schema: string;
  /** JSON text. */
  readonly value: string;
  readonly timeoutMs: number;
}

export type SchemaOutcome =
  | { readonly kind: 'checked'; readonly faults: readonly SchemaError[] }
  /** It took too much time or memory. */
  | { readonly kind: 'unchecked' };
