import type { CredentialOf, HttpRequest } from '@millrace/engine';
import { message } from '@millrace/messages';
import { HIDDEN } from '../hidden.ts';
import { NodeProblem } from '../node-problem.ts';
import { authHeader } from './request.ts';

/** Where a credential puts its secrets in a request. */
export interface SignedRequest {
  readonly request: HttpRequest;
  /** Names of the headers and query parameters that are never shown. */
  readonly hidden: { readonly headers: readonly string[]; readonly parameters: readonly string[] };
}

/**
 * The request with the headers of a credential.
 * @throws NodeProblem when it has one of them already
 */
export function withHeaders(request: HttpRequest, added: { readonly [name: string]: string }): SignedRequest {
  const { headers = {} } = request;
  const names = Object.keys(added);
  const taken = names.find((name) => Object.hasOwn(headers, name));
  if (taken !== undefined) throw new NodeProblem(message('nodes.header_of_credential', { name: taken }));
  return {
    request: { ...request, headers: { ...headers, ...added } },
    hidden: { headers: names, parameters: [] },
  };
}

/**
 * The request with a credential that only has to be added to it.
 * @throws NodeProblem when the request has what it adds already
 */
export function signSimply(
  request: HttpRequest,
  credential: CredentialOf<'bearer' | 'basic' | 'header' | 'query'>,
): SignedRequest {
  if (credential.type === 'query') return withParameter(request, credential);
  const [name, value] = authHeader(credential);
  return withHeaders(request, { [name]: value });
}

function withParameter(request: HttpRequest, { name, value }: CredentialOf<'query'>): SignedRequest {
  const url = new URL(request.url);
  if (url.searchParams.has(name)) {
    throw new NodeProblem(message('nodes.parameter_of_credential', { name }));
  }
  const added = new URLSearchParams([[name, value]]).toString();
  // Appended as text: searchParams would re-encode the author's own query.
  url.search = url.search === '' ? added : `${url.search}&${added}`;
  return { request: { ...request, url: url.href }, hidden: { headers: [], parameters: [name] } };
}

/** A request as it may be shown. */
export function shownRequest({ request, hidden }: SignedRequest): {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
} {
  const headers = Object.entries(request.headers ?? {}).map(([name, value]) => [
    name,
    hidden.headers.includes(name) ? HIDDEN : value,
  ]);
  return { url: hideParameters(request.url, hidden.parameters), headers: Object.fromEntries(headers) };
}

function hideParameters(text: string, names: readonly string[]): string {
  if (names.length === 0) return text;
  const url = new URL(text);
  for (const name of names) url.searchParams.set(name, HIDDEN);
  return url.href.replaceAll(encodeURIComponent(HIDDEN), HIDDEN);
}
