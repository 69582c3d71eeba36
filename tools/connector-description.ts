import { readFileSync } from 'node:fs';
import type { JsonObject } from '@millrace/engine';
import type { Connector } from '../packages/connectors/src/format.ts';
import { compareConnector, requestsOf } from './compare-connector.ts';
import { makeConnector } from './make-connector.ts';
import { readDescription } from './read-description.ts';

/**
 * `check CONNECTOR DESCRIPTION...` compares a connector's file with what the service says of itself, and fails if they differ.
 * `make CHOICE DESCRIPTION` prints a connector's file: what the choice leaves out is taken from the description.
 */
const [verb, file, ...descriptions] = process.argv.slice(2);
if ((verb !== 'check' && verb !== 'make') || file === undefined || descriptions.length === 0) {
  console.error('Usage: connector-description.ts check CONNECTOR DESCRIPTION... | make CHOICE DESCRIPTION');
  process.exit(2);
}
if (verb === 'check') check(file, descriptions);
else make(file, descriptions[0] ?? '');

function make(choice: string, description: string): void {
  const given = JSON.parse(readFileSync(choice, 'utf8')) as JsonObject;
  console.log(JSON.stringify(makeConnector(given, readDescription(description)), null, 2));
}

function check(connectorFile: string, files: readonly string[]): void {
  const connector = JSON.parse(readFileSync(connectorFile, 'utf8')) as Connector;
  const results = files.map((each) => compareConnector(connector, readDescription(each)));
  const compared = new Set(results.flatMap((each) => each.compared));
  for (const { operation, at, message } of results.flatMap((each) => each.differences)) {
    console.log(`${operation}${at}: ${message}`);
    process.exitCode = 1;
  }
  const asked = requestsOf(connector).map(({ id }) => id);
  const missing = asked.filter((id) => !compared.has(id));
  if (missing.length > 0) console.log(`not described: ${missing.join(', ')}`);
  console.log(`${connector.id}: ${compared.size} of ${asked.length} requests compared`);
}
