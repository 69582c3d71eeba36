import { type Message, message, verbatim } from '@millrace/messages';
import type { ConnectorOutcome } from '../connectors/protocol.ts';
import type { DocumentOutcome } from '../documents/protocol.ts';
import type { SchemaOutcome } from '../schema/protocol.ts';
import type { CodeOutcome, Job } from './protocol.ts';

/** Messages for the author of code that failed. */

export function timeoutMessage(timeoutMs: number): Message {
  return message('ports.code_timeout', { ms: timeoutMs });
}

export function memoryMessage(memoryBytes: number): Message {
  const mebibytes = Math.round(memoryBytes / 1_048_576);
  return message('ports.code_memory', { mebibytes });
}

type JobFailure =
  | Extract<CodeOutcome | DocumentOutcome, { kind: 'failure' }>
  | Extract<SchemaOutcome, { kind: 'unchecked' }>
  | Extract<ConnectorOutcome, { kind: 'unread' }>;

/** Of a job that was killed at its time limit. */
export function timeoutFailure(job: Job): JobFailure {
  if (job.kind === 'code') {
    return { kind: 'failure', code: 'code_timeout', message: timeoutMessage(job.timeoutMs) };
  }
  if (job.kind === 'schema') return { kind: 'unchecked' };
  if (job.kind === 'connector') return { kind: 'unread' };
  const said = message('ports.document_timeout', { ms: job.timeoutMs });
  return { kind: 'failure', code: 'document_timeout', message: said };
}

/** Of a job that filled its thread's heap. */
export function memoryFailure(job: Job): JobFailure {
  if (job.kind === 'schema') return { kind: 'unchecked' };
  if (job.kind === 'connector') return { kind: 'unread' };
  return job.kind === 'code'
    ? { kind: 'failure', code: 'code_memory', message: memoryMessage(job.memoryBytes) }
    : { kind: 'failure', code: 'document_memory', message: message('ports.document_memory') };
}

/** Of Python that didn't start in time. */
export function slowStartFailure(): JobFailure {
  return { kind: 'failure', code: 'code_unavailable', message: message('ports.python_slow') };
}

const MAX_MESSAGE_LENGTH = 2_000;

/**
 * What was thrown and where in the author's code.
 * @param description null if the thrown value couldn't be inspected
 * @param stack as QuickJS formats it, one line above the author's first
 * @param file the name of the author's code in it
 */
export function messageOf(
  description: string | null,
  stack: string | null,
  source: string,
  file: string,
): Message {
  const place = placeIn(stack ?? '', source, file);
  const what = description === null ? message('ports.code_threw_unreadable') : verbatim(cut(description));
  if (place === null) return what;
  // What the parser misses there belongs to the wrapping function, which the author doesn't see.
  if (place === AT_THE_END && description?.startsWith('SyntaxError') === true) {
    return withPlace(message('ports.code_unbalanced'), place);
  }
  return withPlace(what, place);
}

/** What was thrown, and where if that is known. */
export function placedMessage(
  description: string,
  place: { readonly line: number; readonly column: number } | null,
): Message {
  const what = verbatim(cut(description));
  return place === null ? what : withPlace(what, { line: String(place.line), column: String(place.column) });
}

function cut(text: string): string {
  return text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH)}…` : text;
}

interface Place {
  readonly line: string;
  readonly column: string;
}

const AT_THE_END: Place = { line: '', column: '' };

function withPlace(error: Message, place: Place): Message {
  if (place === AT_THE_END) return message('ports.at_end_of_code', { error });
  return message('ports.at_line', { error, line: place.line, column: place.column });
}

function placeIn(stack: string, source: string, file: string): Place | null {
  const frame = stack.split('\n').find((each) => each.includes(`${file}:`)) ?? '';
  const [, line, column] = /:(\d+):(\d+)\)?\s*$/.exec(frame) ?? [];
  if (line === undefined || column === undefined) return null;
  const lineInSource = Number(line) - 1;
  if (lineInSource < 1) return null;
  if (lineInSource > source.split('\n').length) return AT_THE_END;
  return { line: String(lineInSource), column };
}
