import type { MessagePort } from 'node:worker_threads';
import type { ContentTask, FileValue } from '@millrace/engine';
import type { Message } from '@millrace/messages';
import type { DocumentFailure } from '../documents/fault.ts';

/** A file that a thread may read. */
export interface ContentInput {
  readonly name: string;
  readonly type: string;
  readonly size: number;
}

/** Work on files, as sent to a thread. */
export interface ContentJob {
  readonly kind: 'contents';
  readonly task: ContentTask;
  readonly inputs: readonly ContentInput[];
  /** Through which the thread asks for bytes, and gives those of new files. */
  readonly port: MessagePort;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
}

/** What it comes to; `text` is the result's JSON text. `unserved`: the host refused a call, and knows why. */
export type ContentOutcome =
  | { readonly kind: 'value'; readonly text: string }
  | { readonly kind: 'failure'; readonly code: DocumentFailure; readonly message: Message }
  | { readonly kind: 'unserved' };

/** What a thread asks of the host. Files are made one after the other. */
export type HostCall =
  /** Bytes of an input, from `start` up to and without `end`. */
  | { readonly kind: 'read'; readonly input: number; readonly start: number; readonly end: number }
  | { readonly kind: 'open'; readonly name: string; readonly type: string }
  /** Replied to once there is room for more. */
  | { readonly kind: 'write'; readonly bytes: Uint8Array }
  /** Replied to with the file's value. */
  | { readonly kind: 'close' };

/** One call at a time has each number. */
export interface HostRequest {
  readonly id: number;
  readonly call: HostCall;
}

export interface HostReply {
  readonly id: number;
  /** Undefined if the host couldn't do it. */
  readonly value: Uint8Array | FileValue | null | undefined;
}
