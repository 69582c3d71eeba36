import {
  findJsonMistake,
  findUnsupportedCharacters,
  type JsonValue,
  jsonDepthExceeds,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import type { ConnectorFault } from './lint-parts.ts';
import { readOwnConnector } from './own.ts';
import { tooLarge } from './own-file.ts';

const MAX_DEPTH = 40;

/** What a sound file says of itself. */
export interface OwnFileFacts {
  readonly id: string;
  readonly title: string;
  readonly operations: number;
  readonly triggers: number;
}

/** Data only, as it may come from a thread. */
export type OwnFileCheck =
  | {
      readonly kind: 'sound';
      readonly facts: OwnFileFacts;
      /** As it is stored. */
      readonly text: string;
    }
  | { readonly kind: 'faulty'; readonly faults: readonly [ConnectorFault, ...ConnectorFault[]] };

/** Checks the text of a file that an organisation has written. Takes up to 200 ms, most of it when it is called first. */
export function checkOwnFile(given: string): OwnFileCheck {
  const text = given.replace(/^\uFEFF/, '');
  const refused = tooLarge(text);
  if (refused !== null) return faulty(refused);
  if (jsonDepthExceeds(text, MAX_DEPTH))
    return faulty(message('connectors.file_too_deep', { max: MAX_DEPTH }));
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    const { line, column } = placeOf(text, findJsonMistake(text));
    return faulty(message('connectors.file_not_json', { line, column }));
  }
  const pointer = findUnsupportedCharacters(value);
  if (pointer !== null) {
    return { kind: 'faulty', faults: [{ pointer, message: message('connectors.bad_character') }] };
  }
  const read = readOwnConnector(value);
  if ('faults' in read) return { kind: 'faulty', faults: read.faults };
  const { id, title, operations, triggers = [] } = read.connector;
  return {
    kind: 'sound',
    facts: { id, title, operations: operations.length, triggers: triggers.length },
    text,
  };
}

function faulty(fault: Message): OwnFileCheck {
  return { kind: 'faulty', faults: [{ pointer: '', message: fault }] };
}

function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
