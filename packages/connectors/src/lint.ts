import type { JsonValue } from '@millrace/engine';
import { message, verbatim } from '@millrace/messages';
import { Compile } from 'typebox/compile';
import { type Connector, connectorSchema, type Operation } from './format.ts';
import { lintBase } from './lint-addresses.ts';
import { lintJapanese } from './lint-japanese.ts';
import { lintLists } from './lint-lists.ts';
import { lintOperation } from './lint-operation.ts';
import { type ConnectorFault, lintTemplates } from './lint-parts.ts';
import { lintTrigger } from './lint-trigger.ts';

/** Faults of a connector's file; none if it can be used. */
export function lintConnector(file: JsonValue): readonly ConnectorFault[] {
  const validator = Compile(connectorSchema);
  if (!validator.Check(file)) {
    return [...validator.Errors(file)].map(({ instancePath, message: said, params }) => ({
      pointer: instancePath,
      message: verbatim(`${said}${describe(params)}. See packages/connectors/src/format.ts.`),
    }));
  }
  const connector = file as Connector;
  return [...lintContents(connector), ...lintJapanese(connector)];
}

/** Faults of what a file that matches its schema says. */
export function lintContents(connector: Connector): readonly ConnectorFault[] {
  const operations = connector.operations.flatMap((operation, index) =>
    lintOperation(connector, operation, `/operations/${index}`),
  );
  const triggers = (connector.triggers ?? []).flatMap((trigger, index) =>
    lintTrigger(connector, trigger, `/triggers/${index}`),
  );
  return [
    ...lintBase(connector),
    ...lintTemplates([connector.reason, connector.errors ?? []] as JsonValue, '', ['response'], null),
    ...lintLists(connector),
    ...lintVersions(connector.operations, '/operations'),
    ...lintVersions(connector.triggers ?? [], '/triggers'),
    ...operations,
    ...triggers,
  ];
}

function describe(params: object): string {
  const named = Object.values(params)
    .flat()
    .filter((each) => typeof each === 'string');
  return named.length === 0 ? '' : ` (${named.join(', ')})`;
}

/** An operation or a trigger, of which there may be several versions. */
type Versioned = Pick<Operation, 'id' | 'version' | 'replaced'>;

function lintVersions(operations: readonly Versioned[], at: string): ConnectorFault[] {
  const newest = new Map<string, number>();
  for (const { id, version = 1 } of operations) newest.set(id, Math.max(newest.get(id) ?? 0, version));
  const seen = new Set<string>();
  return operations.flatMap(({ id, version = 1, replaced }, index) => {
    const name = `${id} ${version}`;
    const pointer = `${at}/${index}`;
    if (seen.has(name)) return [{ pointer, message: message('connectors.twice', { id }) }];
    seen.add(name);
    const isOld = version < (newest.get(id) ?? 1);
    if (isOld === (replaced === true)) return [];
    return [
      {
        pointer: `${pointer}/replaced`,
        message: message(isOld ? 'connectors.newer_version' : 'connectors.no_newer_version'),
      },
    ];
  });
}
