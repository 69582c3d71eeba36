import type { OwnFileCheck } from '@millrace/connectors/own-check';

/** The check of one connector's file, as sent to a thread. */
export interface ConnectorJob {
  readonly kind: 'connector';
  /** The file. */
  readonly text: string;
  readonly timeoutMs: number;
}

export type ConnectorOutcome =
  | { readonly kind: 'read'; readonly check: OwnFileCheck }
  /** It took too much time or memory. */
  | { readonly kind: 'unread' };
