import { type ConnectorNode, nodesOf } from '@millrace/connectors/connectors';
import type { Connector, OwnConnectorFile } from '@millrace/connectors/format';
import { complete } from '@millrace/connectors/own-file';
import type { Database, Queryable } from '@millrace/database/database';
import type { JsonValue, NodeRegistry } from '@millrace/engine';
import { mayNameOwn, ownNamesIn } from './names.ts';
import { copyPins, insertPins, listFiles, listNewest, listOfVersion, type RevisionRef } from './store.ts';

/** A connector with its node types. */
export interface OwnConnectorTypes {
  readonly connector: Connector;
  readonly nodes: readonly ConnectorNode[];
}

interface Cached extends OwnConnectorTypes {
  readonly bytes: number;
}

/** By the hash of the file, most recently used last. What plans use stays with them. */
const cache = new Map<string, Cached>();
const MAX_CACHED_BYTES = 4 * 1024 * 1024;
let cachedBytes = 0;

function keep(hash: string, made: Cached): void {
  cache.set(hash, made);
  cachedBytes += made.bytes;
  for (const [oldest, { bytes }] of cache) {
    if (cachedBytes <= MAX_CACHED_BYTES) break;
    cache.delete(oldest);
    cachedBytes -= bytes;
  }
}

function typesIn(file: string): Cached {
  const connector = complete(JSON.parse(file) as OwnConnectorFile);
  return { connector, nodes: nodesOf([connector]), bytes: file.length };
}

/** The node types of these revisions, in their order. A file is read once and kept, as it never changes. */
async function load(
  db: Queryable,
  organisationId: number,
  revisions: readonly RevisionRef[],
): Promise<readonly OwnConnectorTypes[]> {
  const found = new Map<string, Cached>();
  const missing: RevisionRef[] = [];
  for (const revision of revisions) {
    const hash = revision.file_hash.toString('hex');
    const known = cache.get(hash);
    if (known === undefined) missing.push(revision);
    else {
      found.set(hash, known);
      // Reinserted, so that the Map's order is the order of use.
      cache.delete(hash);
      cache.set(hash, known);
    }
  }
  if (missing.length > 0) {
    for (const { file, file_hash } of await listFiles(db, organisationId, missing)) {
      const hash = file_hash.toString('hex');
      if (found.has(hash)) continue;
      // Another request may have loaded it meanwhile.
      const known = cache.get(hash);
      const made = known ?? typesIn(file);
      if (known === undefined) keep(hash, made);
      found.set(hash, made);
      // A file takes milliseconds; many of them take turns.
      await new Promise(setImmediate);
    }
  }
  return revisions.flatMap(({ file_hash }) => found.get(file_hash.toString('hex')) ?? []);
}

/** Which revisions a registry has. */
const revisionsOf = new WeakMap<NodeRegistry, readonly RevisionRef[]>();

async function registryOf(
  base: NodeRegistry,
  db: Queryable,
  organisationId: number,
  revisions: readonly RevisionRef[],
): Promise<NodeRegistry> {
  if (revisions.length === 0) return base;
  const loaded = await load(db, organisationId, revisions);
  const own = new Map(loaded.flatMap(({ nodes }) => nodes).map(({ node }) => [node.type, node]));
  // The base comes first: whatever a file says, it can't stand in for a type that everybody has.
  const registry: NodeRegistry = (type) => base(type) ?? own.get(type);
  revisionsOf.set(registry, revisions);
  return registry;
}

/**
 * The node types of an organisation's own connectors, by their newest revisions.
 * @param isWanted by the connector's name; files of others aren't read
 */
export async function ownTypes(
  tx: Queryable,
  organisationId: number,
  isWanted: (name: string) => boolean,
): Promise<readonly OwnConnectorTypes[]> {
  const newest = await listNewest(tx, organisationId);
  return load(
    tx,
    organisationId,
    newest.filter(({ name }) => isWanted(name)),
  );
}

/**
 * The node types that an organisation's new flows may have: those of everybody, and its own by their newest revisions. Always read from the
 * database, so that an upload counts at once in every process.
 */
export async function typesOfOrganisation(
  base: NodeRegistry,
  tx: Queryable,
  organisationId: number,
): Promise<NodeRegistry> {
  return registryOf(base, tx, organisationId, await listNewest(tx, organisationId));
}

/** The same for a flow that is about to be checked; nothing is read if it names none of them. */
export function typesForFlow(
  base: NodeRegistry,
  tx: Queryable,
  organisationId: number,
  flow: JsonValue,
): Promise<NodeRegistry> {
  return mayNameOwn(flow) ? typesOfOrganisation(base, tx, organisationId) : Promise.resolve(base);
}

/** {@link typesForFlow} outside of a transaction. */
export function typesForNewFlow(
  base: NodeRegistry,
  db: Database,
  organisationId: number,
  flow: JsonValue,
): Promise<NodeRegistry> {
  if (!mayNameOwn(flow)) return Promise.resolve(base);
  return db.forOrganisation(organisationId, (tx) => typesOfOrganisation(base, tx, organisationId));
}

interface Version {
  readonly workflowId: number;
  readonly version: number;
}

/**
 * The node types with which a saved version of a workflow runs.
 * @param flowJson its flow
 * @returns `isFinal`: they never change. Otherwise the version names a connector that it wasn't saved with: there was none yet.
 */
export async function typesToRun(
  base: NodeRegistry,
  db: Queryable,
  version: Version,
  flowJson: string,
): Promise<{ readonly registry: NodeRegistry; readonly isFinal: boolean }> {
  const names = ownNamesIn(flowJson);
  if (names.length === 0) return { registry: base, isFinal: true };
  const found = await listOfVersion(db, version, names);
  const registry = await registryOf(base, db, found[0]?.organisation_id ?? 0, found);
  return { registry, isFinal: found.length === names.length && found.every((each) => each.is_pinned) };
}

/** The same to check it, for example before it is activated: what was deleted is no longer there. */
export async function typesToCheck(
  base: NodeRegistry,
  tx: Queryable,
  version: Version,
  flowJson: string,
): Promise<NodeRegistry> {
  const names = ownNamesIn(flowJson);
  if (names.length === 0) return base;
  const found = (await listOfVersion(tx, version, names)).filter((each) => !each.is_deleted);
  return registryOf(base, tx, found[0]?.organisation_id ?? 0, found);
}

/** {@link typesToCheck} outside of a transaction. */
export function typesOfSaved(
  base: NodeRegistry,
  db: Database,
  organisationId: number,
  saved: { readonly id: number; readonly version: number; readonly flow_data: string },
): Promise<NodeRegistry> {
  if (ownNamesIn(saved.flow_data).length === 0) return Promise.resolve(base);
  const version = { workflowId: saved.id, version: saved.version };
  return db.forOrganisation(organisationId, (tx) => typesToCheck(base, tx, version, saved.flow_data));
}

/** The types of versions for plans. */
export function typesOfVersions(base: NodeRegistry, db: Queryable) {
  return (version: Version, flowJson: string) => typesToRun(base, db, version, flowJson);
}

/**
 * Records that a version runs with the revisions it was checked with.
 * @param registry as returned by this module
 */
export async function pinTypes(
  tx: Queryable,
  organisationId: number,
  version: Version,
  flowJson: string,
  registry: NodeRegistry,
): Promise<void> {
  const names = ownNamesIn(flowJson);
  const known = revisionsOf.get(registry) ?? [];
  const used = known.filter(({ name }) => names.includes(name));
  if (used.length > 0) await insertPins(tx, organisationId, version, used);
}

/** Gives a version that repeats an earlier one the revisions of that. */
export async function pinTypesOf(
  tx: Queryable,
  { workflowId, version }: Version,
  earlier: number,
  flowJson: string,
): Promise<void> {
  if (ownNamesIn(flowJson).length > 0) await copyPins(tx, workflowId, earlier, version);
}
