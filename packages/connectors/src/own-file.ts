import type { Connector, OwnConnectorFile } from './format.ts';

/** A checked file as a connector. */
export function complete({
  icon = 'plug',
  synonyms = [],
  reference = '',
  written_on = '',
  ja = {},
  operations,
  triggers = [],
  ...rest
}: OwnConnectorFile): Connector {
  return {
    ...rest,
    ...{ icon, synonyms, reference, written_on, ja, own: true },
    operations: operations.map((each) => ({ ...each, exchanges: each.exchanges ?? [] })),
    triggers: triggers.map((each) => ({ ...each, exchanges: each.exchanges ?? [] })),
  };
}
