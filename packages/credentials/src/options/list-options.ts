import type { CredentialOptions } from '@millrace/admin-api';
import { settingsReadBy } from '@millrace/connectors/list-choices';
import type { CredentialService, CredentialType } from '@millrace/engine';
import { type ApiError, notFound, validationError } from '@millrace/errors/errors';
import { type Message, message, verbatim } from '@millrace/messages';
import { presentMessage } from '@millrace/messages/english';
import type { TestDeps } from '../checks/check-credential.ts';
import { failedBy, maskMessage } from '../checks/result.ts';
import { createCredentialService } from '../service.ts';
import { type CredentialRow, findCredential } from '../store.ts';
import { listChannels } from './channels.ts';
import { type ConnectorOptions, listOfConnector } from './connector-list.ts';
import { listModels } from './models.ts';
import type { Listing, OptionList } from './option-list.ts';

/** Which values are asked for, and of which credential. */
export interface OptionsRequest {
  readonly organisationId: number;
  readonly credentialId: number;
  readonly search: string;
  /** From the previous page. */
  readonly cursor: string | undefined;
  /** A list of a connector; absent: what the credential's type lists. */
  readonly ofConnector?: ConnectorOptions;
}

const TIME_LIMIT_MS = 15_000;
/** How long a list is reused: long enough for typing a search, short enough that a channel just made is found by trying again. */
const FRESH_MS = 60_000;
/** Lists kept at once; the oldest goes first. */
const MAX_KEPT = 20;
const PAGE_SIZE = 100;

/** Why there is no list, without secrets. */
type Failure = NonNullable<CredentialOptions['failure']>;
type Listed = { readonly list: OptionList } | { readonly failure: Failure };

interface Kept {
  readonly listed: Promise<Listed>;
  readonly until: number;
}

/**
 * Lists the values that nodes can use with a credential, as its service offers them: the models of an AI provider, the channels of a chat
 * service, what a connector says of its settings. Concurrent requests share one listing. Listing doesn't count as a use of the credential.
 */
export function createOptionLists(deps: TestDeps): (request: OptionsRequest) => Promise<CredentialOptions> {
  const kept = new Map<string, Kept>();

  function listOnce(row: CredentialRow, of: ConnectorOptions | undefined): Promise<Listed> {
    const list = listerOf(row, of);
    // A changed credential may be for another service.
    const key = [row.organisation_id, row.id, row.updated_at.toISOString(), nameOf(of)].join(' ');
    const known = kept.get(key);
    if (known !== undefined && known.until > performance.now()) return known.listed;
    const listed = fetchList(deps, row, list);
    kept.delete(key);
    kept.set(key, { listed, until: performance.now() + FRESH_MS });
    for (const oldest of [...kept.keys()].slice(0, -MAX_KEPT)) kept.delete(oldest);
    const forget = () => {
      if (kept.get(key)?.listed === listed) kept.delete(key);
    };
    // What failed is tried again at once: its cause may have been mended.
    listed.then((result) => 'failure' in result && forget(), forget);
    return listed;
  }

  return async ({ organisationId, credentialId, search, cursor, ofConnector }) => {
    const row = await deps.db.forOrganisation(organisationId, (tx) =>
      findCredential(tx, organisationId, credentialId),
    );
    if (row === undefined) throw notFound('credential');
    const start = startOf(cursor);
    const listed = await listOnce(row, ofConnector);
    if ('list' in listed) return pageOf(listed.list, search, start);
    return { items: [], next_cursor: null, is_complete: true, failure: listed.failure };
  };
}

type Lister = (
  credentials: CredentialService,
  way: Pick<Listing<CredentialType>, 'http' | 'signal'>,
) => Promise<OptionList>;

/** What tells a connector's list apart, for one organisation. */
function nameOf(of: ConnectorOptions | undefined): string {
  if (of === undefined) return '';
  const { connector, list, settings } = of;
  const read = settingsReadBy(list).map((name) => settings[name] ?? null);
  return JSON.stringify([connector.own === true, connector.id, list, read]);
}

/** @throws ApiError 422 for types whose services list nothing, or that a connector doesn't take */
function listerOf({ id, type }: CredentialRow, of: ConnectorOptions | undefined): Lister {
  if (of !== undefined) {
    const { title: service, authentication } = of.connector;
    if (!authentication.types.some((each) => each === type)) {
      throw refused('/credential', message('service.options_not_of', { service }));
    }
    return (credentials, way) => listOfConnector(of, id, credentials, way);
  }
  switch (type) {
    case 'ai':
      return async (credentials, way) =>
        listModels({ ...way, credential: await credentials.open(id, { types: [type] }) });
    case 'chat':
      return async (credentials, way) =>
        listChannels({ ...way, credential: await credentials.open(id, { types: [type] }) }, Date.now);
    default:
      throw refused('/credential', message('service.options_type', { type }));
  }
}

async function fetchList(
  { db, keys, log, egress, timeLimitMs = TIME_LIMIT_MS }: TestDeps,
  { organisation_id: organisationId, name }: CredentialRow,
  list: Lister,
): Promise<Listed> {
  const secrets = new Set<string>();
  const caller = { organisationId, onSecret: (secret: string) => void secrets.add(secret) };
  const http = egress.http(organisationId);
  const credentials = createCredentialService({ db, keys, log, egress, notesUse: false })(caller, { http });
  const signal = AbortSignal.timeout(timeLimitMs);
  try {
    return { list: await list(credentials, { http, signal }) };
  } catch (error) {
    if (signal.aborted) {
      const late = message('ports.no_response', { host: name, seconds: timeLimitMs / 1_000 });
      return { failure: { code: 'timeout', ...presentMessage(late) } };
    }
    const { code, refusal } = failedBy(error, null);
    return { failure: { code, ...presentMessage(maskMessage(refusal ?? verbatim(code), secrets)) } };
  }
}

/** @throws ApiError 422 */
function startOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (/^\d{1,6}$/.test(cursor)) return Number(cursor);
  throw refused('/cursor', message('service.options_cursor'));
}

function refused(pointer: string, fault: Message): ApiError {
  return validationError([{ pointer, code: 'invalid_value', message: fault }]);
}

function pageOf({ items, isComplete }: OptionList, search: string, start: number): CredentialOptions {
  const words = search.normalize('NFKC').toLowerCase().split(/\s+/);
  const found = items.filter(({ value, label, group }) => {
    const text = `${value} ${label} ${group ?? ''}`.normalize('NFKC').toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const end = start + PAGE_SIZE;
  return {
    items: found.slice(start, end).map((option) => ({ ...option })),
    next_cursor: end < found.length ? String(end) : null,
    is_complete: isComplete,
    failure: null,
  };
}
