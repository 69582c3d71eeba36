import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JsonObject } from '@millrace/engine';
import { parse } from 'yaml';
import { describeSmithy, isSmithy } from './describe-smithy.ts';
import { describeStone } from './describe-stone.ts';
import { GraphqlDescription } from './graphql-description.ts';
import { ODataDescription } from './odata-description.ts';
import { ServiceDescription } from './service-description.ts';

/**
 * Reads a description from a file: OpenAPI 3, Swagger 2, Google's discovery format or Smithy's model as JSON or YAML, OData's CSDL (`.csdl`, `.xml`),
 * a GraphQL schema (`.graphql`) or Stone (`.stone`), with the namespaces beside it that it imports.
 */
export function readDescription(file: string): ServiceDescription {
  const text = readFileSync(file, 'utf8');
  if (/\.(csdl|xml)$/.test(file)) return new ODataDescription(text);
  if (/\.graphqls?$/.test(file)) return new GraphqlDescription(text);
  if (file.endsWith('.stone')) return new ServiceDescription(describeStone([...stoneFiles(file).values()]));
  const isYaml = /\.ya?ml$/.test(file);
  const document = (isYaml ? parse(text, { maxAliasCount: 10_000 }) : JSON.parse(text)) as JsonObject;
  return new ServiceDescription(isSmithy(document) ? describeSmithy(document) : document);
}

/** By path. */
function stoneFiles(file: string, read = new Map<string, string>()): ReadonlyMap<string, string> {
  const text = readFileSync(file, 'utf8');
  read.set(file, text);
  for (const [, name] of text.matchAll(/^import (\w+)/gm)) {
    const imported = join(dirname(file), `${name}.stone`);
    if (!read.has(imported)) stoneFiles(imported, read);
  }
  return read;
}
