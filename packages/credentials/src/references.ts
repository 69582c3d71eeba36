import type { Queryable } from '@millrace/database/database';
import {
  type Flow,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  joinPointer,
  type NodeRegistry,
  parseJson,
} from '@millrace/engine';
import { type FieldError, validationError } from '@millrace/errors/errors';
import { type Message, message } from '@millrace/messages';
import { listAlertRulesWith, listExistingIds, listFlowsWithCredentials } from './store.ts';

/** A value in a flow that names a credential. */
export interface CredentialReference {
  readonly credentialId: number;
  /** JSON Pointer starting with `/flow_data`, like those of problems. */
  readonly pointer: string;
  /** The constant, containing the id, that the value reads by a template; null if the value is the id itself. */
  readonly constant: string | null;
}

/** Something that names a credential. */
export interface CredentialUser {
  readonly id: number;
  readonly name: string;
}

/** Where a credential is used. */
export interface CredentialUsage {
  /** Those whose saved version names it, including archived ones. */
  readonly workflows: readonly CredentialUser[];
  /** Those that send with it. */
  readonly alertRules: readonly CredentialUser[];
}

const USUAL_NAME = /(^|_)credential_id$/;
/** A template that is only a constant, as the gallery's templates use for credentials. */
const CONSTANT = /^\{\{\s*vars\.([A-Za-z_]\w*)\s*\}\}$/;

/**
 * Every value in a flow that names a credential, by its id or by a constant containing the id: members called
 * `credential_id` or `..._credential_id`, and those marked `x-credential` in a node's schema.
 */
export function findReferences(flow: Flow, registry: NodeRegistry): readonly CredentialReference[] {
  const found: CredentialReference[] = [];
  const vars = (flow.settings?.vars ?? {}) as JsonObject;
  for (const [index, node] of flow.nodes.entries()) {
    const config = (node.data as JsonObject | undefined)?.config;
    if (config === undefined) continue;
    const marked = markedNames(registry(node.type)?.configSchema);
    collect(
      config,
      `/flow_data/nodes/${index}/data/config`,
      (name) => USUAL_NAME.test(name) || marked.has(name),
      { vars, found },
    );
  }
  return found;
}

/** Everything in the organisation that uses the credential. */
export async function findUsage(
  db: Queryable,
  organisationId: number,
  credentialId: number,
  registry: NodeRegistry,
): Promise<CredentialUsage> {
  const rows = await listFlowsWithCredentials(db, organisationId);
  const workflows = rows
    .filter(({ flow_data: text }) => {
      const flow = parseJson(text);
      return findReferences(flow, registry).some((reference) => reference.credentialId === credentialId);
    })
    .map(({ id, name }) => ({ id, name }));
  return { workflows, alertRules: await listAlertRulesWith(db, organisationId, credentialId) };
}

/** Whether nothing would miss it. */
export function isUnused({ workflows, alertRules }: CredentialUsage): boolean {
  return workflows.length === 0 && alertRules.length === 0;
}

/** References in a flow to credentials the organisation doesn't have, for example in an imported flow. */
export async function findMissingReferences(
  db: Queryable,
  organisationId: number,
  flow: Flow,
  registry: NodeRegistry,
): Promise<readonly CredentialReference[]> {
  const references = findReferences(flow, registry);
  if (references.length === 0) return [];
  const ids = [...new Set(references.map(({ credentialId }) => credentialId))];
  const existing = new Set(await listExistingIds(db, organisationId, ids));
  return references.filter(({ credentialId }) => !existing.has(credentialId));
}

/**
 * Refuses to activate a flow that names credentials the organisation doesn't have.
 * @throws ApiError 422 with one error per reference
 */
export async function refuseMissingCredentials(
  db: Queryable,
  organisationId: number,
  flow: Flow,
  registry: NodeRegistry,
): Promise<void> {
  const missing = await findMissingReferences(db, organisationId, flow, registry);
  const errors = missing.map(
    (reference): FieldError => ({
      pointer: reference.pointer,
      code: 'credential_not_found',
      message: describeMissing(reference),
    }),
  );
  if (errors.length > 0) throw validationError(errors);
}

/** The message for a reference to a missing credential. */
export function describeMissing({ credentialId: id, constant }: CredentialReference): Message {
  if (constant === null) return message('service.credential_missing', { id });
  return message('service.credential_missing_in_constant', { id, constant });
}

function collect(
  value: JsonValue,
  pointer: string,
  namesCredential: (name: string) => boolean,
  of: { readonly vars: JsonObject; readonly found: CredentialReference[] },
): void {
  if (isJsonArray(value)) {
    for (const [index, item] of value.entries()) collect(item, `${pointer}/${index}`, namesCredential, of);
  } else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      const at = joinPointer(pointer, name);
      const constant = namesCredential(name) ? constantIn(member, of.vars) : null;
      const id = constant === null ? member : (of.vars[constant] ?? null);
      if (namesCredential(name) && Number.isSafeInteger(id)) {
        // 0 is the initial value in the editor's form and in a template's constant, which is a separate problem.
        if (id !== 0) of.found.push({ credentialId: id as number, pointer: at, constant });
      } else {
        collect(member, at, namesCredential, of);
      }
    }
  }
}

/** The constant a template reads, if it contains a credential's id; null otherwise. */
function constantIn(value: JsonValue, vars: JsonObject): string | null {
  const name = typeof value === 'string' ? CONSTANT.exec(value)?.[1] : undefined;
  return name !== undefined && Object.hasOwn(vars, name) && Number.isSafeInteger(vars[name]) ? name : null;
}

/** Names of the properties a schema marks, at any depth. */
function markedNames(schema: JsonSchema | undefined): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, member] of Object.entries(value)) {
      if (key === 'properties' && typeof member === 'object' && member !== null) {
        for (const [name, property] of Object.entries(member)) {
          if (typeof property === 'object' && property !== null && 'x-credential' in property)
            names.add(name);
        }
      }
      visit(member);
    }
  };
  visit(schema);
  return names;
}
