import {
  type Answer,
  type Body,
  type EndpointName,
  EXACT_HEADER,
  type Params,
  type Problem,
  type Query,
} from '@millrace/admin-api';
import { type JsonValue, parseJson, stringifyJson } from '@millrace/engine';
import i18next from 'i18next';
import { translateMessage } from '../i18n/translate-message.ts';
import { noteServiceTime } from './clock.ts';
import { userActivityHeaders } from './user-activity.ts';

/** What a call carries; only what its endpoint takes. */
export type CallOptions<Name extends EndpointName> = {
  readonly signal?: AbortSignal;
  /**
   * The page goes away: it is sent all the same when its body has up to 60,000 bytes. A larger one the browser may cancel,
   * so whoever sends it puts it aside as well.
   */
  readonly keepalive?: boolean;
} & ([keyof Params<Name>] extends [never]
  ? unknown
  : { readonly params: { readonly [P in keyof Params<Name>]: string | number } }) &
  (Query<Name> extends undefined ? unknown : { readonly query?: Query<Name> }) &
  (Body<Name> extends undefined ? unknown : { readonly body: Body<Name> });

/** The options of a call as an argument: left out where the endpoint takes none. */
export type CallArguments<Name extends EndpointName> =
  Record<never, never> extends CallOptions<Name>
    ? [options?: CallOptions<Name>]
    : [options: CallOptions<Name>];

/** An answer that says no (RFC 9457), in the language that the reader has at the moment it is read. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly #problem: Partial<Problem>;
  /** The whole answer, for codes that carry more. */
  readonly answer: unknown;

  constructor(status: number, problem: Partial<Problem>) {
    super();
    this.#problem = problem;
    this.status = status;
    this.code = problem.code ?? 'unknown';
    this.requestId = problem.request_id ?? null;
    this.answer = problem;
  }

  override get message(): string {
    const { detail, key, params } = this.#problem;
    if (detail === undefined) return i18next.t('common.errorStatus', { status: this.status });
    return translateMessage({
      message: detail,
      ...(key === undefined ? {} : { key }),
      ...(params === undefined ? {} : { params }),
    });
  }

  get errors(): NonNullable<Problem['errors']> {
    return (this.#problem.errors ?? []).map((error) => ({ ...error, message: translateMessage(error) }));
  }
}

/** {@link CallOptions} of an endpoint that is not known yet. */
export interface AnyOptions {
  readonly params?: { readonly [name: string]: string | number };
  readonly query?: { readonly [name: string]: unknown };
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly keepalive?: boolean;
}

/** Browsers send 64 KiB for a page that goes away, all its calls together, and refuse the call that has more. */
const LAST_BYTES = 60_000;

/**
 * Calls an endpoint of the admin API. What it sends, and what it answers where the endpoint is marked `isExact`, keeps
 * numbers that a double cannot hold.
 * @throws ApiProblem when the service refuses; TypeError when it cannot be reached
 */
export function call<Name extends EndpointName>(
  name: Name,
  ...[options]: CallArguments<Name>
): Promise<Answer<Name>> {
  return send(name, options as AnyOptions | undefined);
}

/** {@link call} of an endpoint that is not known yet. */
export async function send<Name extends EndpointName>(
  name: Name,
  given: AnyOptions = {},
): Promise<Answer<Name>> {
  const body = given.body === undefined ? undefined : stringifyJson(given.body as JsonValue);
  const isLast = given.keepalive === true && new Blob([body ?? '']).size <= LAST_BYTES;
  const response = await fetch(pathOf(name, given), {
    method: name.slice(0, name.indexOf(' ')),
    headers: {
      ...userActivityHeaders(),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
    ...(given.signal === undefined ? {} : { signal: given.signal }),
    ...(isLast ? { keepalive: true } : {}),
  });
  noteServiceTime(response);
  if (response.status === 204) return undefined as Answer<Name>;
  const answer = await readAnswer(response);
  if (!response.ok) throw new ApiProblem(response.status, answer as Partial<Problem>);
  return answer as Answer<Name>;
}

async function readAnswer(response: Response): Promise<unknown> {
  try {
    return response.headers.has(EXACT_HEADER) ? parseJson(await response.text()) : await response.json();
  } catch {
    // A proxy's page, say: the status tells enough.
    return {};
  }
}

/** The address of an endpoint, for links to files and for event streams. */
export function addressOf<Name extends EndpointName>(name: Name, ...[options]: CallArguments<Name>): string {
  return pathOf(name, options as AnyOptions | undefined);
}

/** {@link addressOf} an endpoint that is not known yet. */
export function pathOf(name: string, { params = {}, query = {} }: AnyOptions = {}): string {
  const path = name.slice(name.indexOf(' ') + 1);
  const filled = path.replace(/:(\w+)/g, (_match, param: string) => encodeURIComponent(params[param] ?? ''));
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '')
      search.set(key, String(value as string | number | boolean));
  }
  const text = search.toString();
  return `/api/admin${filled}${text === '' ? '' : `?${text}`}`;
}
