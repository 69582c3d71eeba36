import type { Credential, CredentialTypeItem } from '@millrace/admin-api';
import { type FoundList, findList } from '@millrace/connectors/connectors';
import { services } from '@millrace/connectors/services';
import { testCredential } from '@millrace/credentials/checks/check-credential';
import { addCredential, changeCredential, deleteCredential } from '@millrace/credentials/credentials';
import { findExpiry, setExpiry } from '@millrace/credentials/expiry';
import { guidesOf } from '@millrace/credentials/guides';
import { connectionOf } from '@millrace/credentials/oauth/connection-state';
import { OAUTH_PRESETS } from '@millrace/credentials/oauth/presets';
import { createOptionLists } from '@millrace/credentials/options/list-options';
import { findUsage } from '@millrace/credentials/references';
import { BOUND_TYPES, credentialSchemas, titleOfType } from '@millrace/credentials/schema';
import { type CredentialRow, findCredential, listCredentials } from '@millrace/credentials/store';
import type { Database } from '@millrace/database/database';
import {
  CREDENTIAL_TYPES,
  type CredentialType,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  parseJson,
  parseTimestamp,
  tryParseJson,
} from '@millrace/engine';
import { ApiError, notFound, validationError } from '@millrace/errors/errors';
import { pathId } from '@millrace/http/ids';
import { applyRateLimit, createRateLimiter } from '@millrace/http/rate-limit';
import { ROLE_MESSAGES } from '@millrace/identity/values/roles';
import { message } from '@millrace/messages';
import { ownTypes } from '@millrace/own-connectors/types';
import { SecretError } from '@millrace/secrets/errors';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';
import { connectionRoutes, redirectUriOf } from './connections.ts';

/** Credentials: names, allowed hosts, usage; never their secrets. */
export function credentialRoutes(app: FastifyInstance, deps: AppDeps): void {
  addReads(app, deps);
  addChanges(app, deps);
  addTest(app, deps);
  addOptions(app, deps);
  addExpiry(app, deps);
  connectionRoutes(app, deps, refuse);
}

function addReads(app: FastifyInstance, deps: AppDeps): void {
  const { db, registry } = deps;

  adminRoute(app, deps, 'GET /orgs/:org/credentials', async ({ organisation: { id } }) => {
    const rows = await db.forOrganisation(id, (tx) => listCredentials(tx, id));
    return { items: rows.map(present) };
  });

  adminRoute(app, deps, 'GET /orgs/:org/credential-types', async () => ({
    items: CREDENTIAL_TYPES.map(presentType),
    oauth_presets: OAUTH_PRESETS.map(({ id, title, hosts, guide: _guide, where: _where, ...fields }) => ({
      ...{ id, title },
      hosts: [...hosts],
      fields: { ...fields },
    })),
    oauth_redirect_uri: redirectUriOf(deps.config),
  }));

  adminRoute(
    app,
    deps,
    'GET /orgs/:org/credentials/:credential/usage',
    async ({ organisation: { id }, params }) => {
      const credentialId = pathId(params.credential, 'credential');
      return db.forOrganisation(id, async (tx) => {
        if ((await findCredential(tx, id, credentialId)) === undefined) throw notFound('credential');
        const { workflows, alertRules } = await findUsage(tx, id, credentialId, registry);
        return { items: [...workflows], alert_rules: [...alertRules] };
      });
    },
  );
}

function addChanges(app: FastifyInstance, deps: AppDeps): void {
  const { db, registry, secretKeys: keys } = deps;

  adminRoute(app, deps, 'POST /orgs/:org/credentials', async ({ actor, organisation, body }) => {
    const given = { ...body, organisationId: organisation.id };
    return addCredential({ db, keys }, given, actor).then(present, refuse);
  });

  adminRoute(
    app,
    deps,
    'PATCH /orgs/:org/credentials/:credential',
    async ({ actor, organisation: { id }, params, body }) => {
      const credentialId = pathId(params.credential, 'credential');
      return changeCredential({ db, keys }, id, credentialId, body, actor).then(present, refuse);
    },
  );

  adminRoute(
    app,
    deps,
    'DELETE /orgs/:org/credentials/:credential',
    async ({ actor, organisation: { id, role }, params, query }) => {
      const force = query?.force ?? false;
      // Breaks other people's workflows, so editors may not do it.
      if (force && role === 'editor') {
        throw new ApiError(
          'insufficient_role',
          message('api.credential_removal_role', {
            needed: ROLE_MESSAGES.org_admin,
            own: ROLE_MESSAGES.editor,
          }),
        );
      }
      const credentialId = pathId(params.credential, 'credential');
      await deleteCredential({ db, registry }, id, credentialId, { force }, actor);
    },
  );
}

/** Per organisation: each test calls out. */
const TESTS_PER_MINUTE = 20;

function addTest(app: FastifyInstance, deps: AppDeps): void {
  const { db, secretKeys: keys, log, egress } = deps;
  const limiter = createRateLimiter(TESTS_PER_MINUTE);

  adminRoute(
    app,
    deps,
    'POST /orgs/:org/credentials/:credential/test',
    async ({ actor, organisation: { id }, params, body, reply }) => {
      applyRateLimit(limiter, 'credential-tests', String(id), reply);
      return testCredential(
        { db, keys, log, egress },
        {
          organisationId: id,
          credentialId: pathId(params.credential, 'credential'),
          url: body.url,
          by: actor,
        },
      );
    },
  );
}

/** Per organisation: a list is reused for a minute, but each new one calls out. */
const LISTS_PER_MINUTE = 120;

function addOptions(app: FastifyInstance, deps: AppDeps): void {
  const { db, secretKeys: keys, log, egress } = deps;
  const limiter = createRateLimiter(LISTS_PER_MINUTE);
  const listOptions = createOptionLists({ db, keys, log, egress });

  adminRoute(
    app,
    deps,
    'GET /orgs/:org/credentials/:credential/options',
    async ({ organisation: { id }, params, query, reply }) => {
      applyRateLimit(limiter, 'credential-options', String(id), reply);
      const credentialId = pathId(params.credential, 'credential');
      const { search = '', cursor, list, settings } = query ?? {};
      const ofConnector =
        list === undefined
          ? {}
          : {
              ofConnector: { ...(await findConnectorList(db, id, list)), settings: parseSettings(settings) },
            };
      return listOptions({ organisationId: id, credentialId, search, cursor, ...ofConnector });
    },
  );
}

/** @throws ApiError 422 when there is no such list */
async function findConnectorList(db: Database, organisationId: number, named: string): Promise<FoundList> {
  const [list = '', id = '', family] = named.split('.').toReversed();
  const connectors =
    family === undefined
      ? services
      : (
          await db.forOrganisation(organisationId, (tx) =>
            ownTypes(tx, organisationId, (name) => name === id),
          )
        ).map(({ connector }) => connector);
  const found = findList(connectors, id, list);
  if (found !== undefined) return found;
  const fault = message('service.options_list');
  throw validationError([{ pointer: '/list', code: 'invalid_value', message: fault }]);
}

/** @throws ApiError 422 for anything but an object */
function parseSettings(text = '{}'): JsonObject {
  const value = tryParseJson(text) ?? null;
  if (isJsonObject(value)) return value;
  const fault = message('service.options_settings');
  throw validationError([{ pointer: '/settings', code: 'invalid_value', message: fault }]);
}

function addExpiry(app: FastifyInstance, { db, ...deps }: AppDeps): void {
  const path = '/orgs/:org/credentials/:credential/expiry';
  adminRoute(app, deps, `GET ${path}`, async ({ organisation: { id }, params }) => {
    const credentialId = pathId(params.credential, 'credential');
    const at = await db.forOrganisation(id, (tx) => findExpiry(tx, id, credentialId));
    return { expires_at: at?.toISOString() ?? null };
  });

  adminRoute(app, deps, `PUT ${path}`, async ({ organisation: { id }, actor, params, body }) => {
    const credentialId = pathId(params.credential, 'credential');
    const at = body.expires_at === null ? null : parseTimestamp(body.expires_at);
    await setExpiry(db, id, credentialId, at, actor);
    return { expires_at: at?.toISOString() ?? null };
  });
}

function refuse(error: unknown): never {
  if (!(error instanceof SecretError)) throw error;
  if (error.code === 'secret_damaged') {
    const damaged = message('api.credential_damaged');
    throw validationError([{ pointer: '/fields', code: 'secret_damaged', message: damaged }]);
  }
  throw new ApiError('not_ready', message('api.secret_key_missing'), { cause: error });
}

function present(row: CredentialRow): Credential {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    hosts: [...row.hosts],
    settings: parseJson(row.settings) as JsonObject,
    needs_secret: !row.has_secret,
    stored_secrets: row.stored_secrets === null ? null : [...row.stored_secrets],
    created_by: row.created_by_email,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    connection: presentConnection(row),
  };
}

function presentConnection(row: CredentialRow): Credential['connection'] {
  const connection = connectionOf(row);
  if (connection === null) return null;
  return { state: connection.state, connected_at: connection.connectedAt?.toISOString() ?? null };
}

function presentType(type: CredentialType): CredentialTypeItem {
  const schema: JsonSchema = { ...credentialSchemas[type] };
  return {
    type,
    title: titleOfType(type),
    description: typeof schema.description === 'string' ? schema.description : '',
    is_bound: BOUND_TYPES.includes(type),
    guides: guidesOf(type).map(({ when = {}, hosts = [], fields, service = null, page = null, text }) => ({
      when: Object.fromEntries(Object.entries(when).map(([field, values]) => [field, [...values]])),
      hosts: [...hosts],
      fields: [...fields],
      ...{ service, page, text },
    })),
    schema: parseJson(JSON.stringify(schema)) as JsonObject,
  };
}
