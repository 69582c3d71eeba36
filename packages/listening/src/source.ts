import type { GuardedFetch } from '@millrace/egress/guarded-fetch';
import type { GuardedSockets } from '@millrace/egress/guarded-socket';
import type { FileValue, JsonValue, ListenSource, NodeContext } from '@millrace/engine';

/** A message that was received; it starts one execution. */
export interface Received {
  /** Tells it apart from everything else this trigger receives, however often it is delivered. */
  readonly id: string;
  /** `trigger.data` of its execution. */
  readonly data: JsonValue;
  /** Ids of the files that its execution gets. */
  readonly files?: readonly string[];
}

/** Messages that are stored together. */
export interface Batch {
  readonly messages: readonly Received[];
  /** Where the next connection continues; stored with the starts. Null: where it would have continued before. */
  readonly position: JsonValue;
}

/** A connection to a source. Whoever has it asks for the next messages only when the last ones are stored, so nothing piles up here. */
export interface Connection {
  /** Where a later connection would continue, if this one received nothing. */
  readonly position: JsonValue;
  /** Waits for messages, for as long as it takes. @throws whatever ended the connection */
  next(): Promise<Batch>;
  /** Tells the source that the executions of these messages are stored. */
  acknowledge(ids: readonly string[]): Promise<void>;
  /** Says goodbye, where that is usual; the sockets are closed afterwards in any case. */
  close(): Promise<void>;
}

/** What a connection is made with, for one trigger. */
export interface ConnectContext<Source extends ListenSource = ListenSource>
  extends Pick<NodeContext, 'contents' | 'credentials' | 'http' | 'signal' | 'now'> {
  readonly source: Source;
  /** As the last connection left it; null for the first one. */
  readonly position: JsonValue;
  /** Ids of messages that were started, and of which the source may not have been told. */
  readonly unacknowledged: readonly string[];
  /** By what the source knows this trigger, on all of its connections. */
  readonly name: string;
  /** Under the rules of the organisation. */
  readonly sockets: GuardedSockets;
  /** Under the same rules. */
  readonly fetch: Pick<GuardedFetch, 'fetch'>;
  /** Stores a file for the execution that is about to start. */
  readonly saveFile: (
    file: { readonly name: string; readonly type: string },
    content: AsyncIterable<Uint8Array>,
  ) => Promise<FileValue>;
}

/** How one kind of source is listened to. */
export interface Driver<Source extends ListenSource = ListenSource> {
  /** Whether ids that were not acknowledged are kept for the next connection, as the source doesn't deliver their messages again. */
  readonly keepsUnacknowledged: boolean;
  /** @throws ServiceError, HttpClientError */
  connect(context: ConnectContext<Source>): Promise<Connection>;
}

/** Messages at once: they are started by one transaction. */
export const MAX_BATCH = 50;
/** Largest content of a message of a queue; what is larger is left out, and the message says so. */
export const MAX_CONTENT_BYTES = 262_144;
