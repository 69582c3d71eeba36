import {
  type Body,
  type EndpointName,
  EXACT_HEADER,
  type Params,
  type Problem,
  type Query,
  type ResponseBody,
} from '@millrace/admin-api';
import { type JsonValue, parseJson, stringifyJson } from '@millrace/engine';
import i18next from 'i18next';
import { loadMessagesIn } from '../i18n/messages.ts';
import { translateMessage } from '../i18n/translate-message.ts';
import { noteServiceTime } from './clock.ts';
import { userActivityHeaders } from './user-activity.ts';

/** The inputs of a call; only those its endpoint accepts. */
export type CallOptions<Name extends EndpointName> = {
  readonly signal?: AbortSignal;
  /**
   * Send the request even if the page is being unloaded. Browsers may cancel one whose body exceeds 60,000 bytes, so
   * callers must also store the data locally.
   */
  readonly keepalive?: boolean;
} & ([keyof Params<Name>] extends [never]
  ? unknown
  : { readonly params: { readonly [P in keyof Params<Name>]: string | number } }) &
  (Query<Name> extends undefined ? unknown : { readonly query?: Query<Name> }) &
  (Body<Name> extends undefined ? unknown : { readonly body: Body<Name> });

/** Call options as an argument, optional for endpoints without inputs. */
export type CallArguments<Name extends EndpointName> =
  Record<never, never> extends CallOptions<Name>
    ? [options?: CallOptions<Name>]
    : [options: CallOptions<Name>];

/** An RFC 9457 error response, translated into the reader's current language when it is read. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly #problem: Partial<Problem>;
  /** The full response body, for codes with extra members. */
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

/** {@link CallOptions} for an endpoint known only at run time. */
export interface AnyOptions {
  readonly params?: { readonly [name: string]: string | number };
  readonly query?: { readonly [name: string]: unknown };
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly keepalive?: boolean;
}

/** Browsers allow 64 KiB of keepalive bodies in total during unload and reject the call that exceeds it. */
const LAST_BYTES = 60_000;

/**
 * Calls an admin API endpoint. Numbers beyond double precision survive in requests, and in responses of endpoints
 * marked `isExact`.
 * @throws ApiProblem when the service returns an error; TypeError when it is unreachable
 */
export function call<Name extends EndpointName>(
  name: Name,
  ...[options]: CallArguments<Name>
): Promise<ResponseBody<Name>> {
  return send(name, options as AnyOptions | undefined);
}

/** {@link call} for an endpoint known only at run time. */
export async function send<Name extends EndpointName>(
  name: Name,
  given: AnyOptions = {},
): Promise<ResponseBody<Name>> {
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
  if (response.status === 204) return undefined as ResponseBody<Name>;
  const answer = await readAnswer(response);
  if (!response.ok) throw new ApiProblem(response.status, answer as Partial<Problem>);
  return answer as ResponseBody<Name>;
}

async function readAnswer(response: Response): Promise<unknown> {
  try {
    const text = await response.text();
    await loadMessagesIn(text);
    return response.headers.has(EXACT_HEADER) ? parseJson(text) : JSON.parse(text);
  } catch {
    // Probably a proxy's page: the status is enough.
    return {};
  }
}

/** The URL of an endpoint, for file links and event streams. */
export function addressOf<Name extends EndpointName>(name: Name, ...[options]: CallArguments<Name>): string {
  return pathOf(name, options as AnyOptions | undefined);
}

/** {@link addressOf} for an endpoint known only at run time. */
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
