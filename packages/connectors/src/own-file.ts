import { type Message, message } from '@millrace/messages';
import type { Connector, OwnConnectorFile } from './format.ts';

/** Of one file. */
export const MAX_FILE_BYTES = 256 * 1024;

/** Why a file isn't even read; null if it may be. */
export function tooLarge(text: string): Message | null {
  const bytes = Buffer.byteLength(text);
  return bytes > MAX_FILE_BYTES ? message('connectors.file_too_large', { bytes, max: MAX_FILE_BYTES }) : null;
}

/** Of a service that asks for no credential. */
const NO_AUTHENTICATION: Connector['authentication'] = { types: [], description: '' };

/** A checked file as a connector. */
export function complete({
  icon = 'plug',
  synonyms = [],
  reference = '',
  written_on = '',
  ja = {},
  authentication = NO_AUTHENTICATION,
  operations,
  triggers = [],
  ...rest
}: OwnConnectorFile): Connector {
  return {
    ...rest,
    ...{ icon, synonyms, reference, written_on, ja, authentication, own: true },
    operations: operations.map((each) => ({ ...each, exchanges: each.exchanges ?? [] })),
    triggers: triggers.map((each) => ({ ...each, exchanges: each.exchanges ?? [] })),
  };
}
