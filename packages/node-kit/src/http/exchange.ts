import {
  HTTP_CREDENTIAL_TYPES,
  type HttpRequest,
  type HttpResponse,
  type NodeContext,
} from '@millrace/engine';
import { noCredential } from '../credential-property.ts';
import { NodeProblem } from '../node-problem.ts';
import { isSuccess } from './answer.ts';
import { type HttpConfig, MAX_REDIRECTS } from './config.ts';
import { responseFileName } from './file-body.ts';
import type { WireRequest } from './request.ts';

/** What is sent, as it may be shown, and how. */
export interface Exchange {
  readonly shown: Pick<WireRequest, 'url' | 'headers'>;
  readonly send: () => Promise<HttpResponse>;
}

/**
 * Prepares a request with the limits of its config, and with the credential that it names, if it names one.
 * @param setting where the credential is chosen
 * @throws NodeProblem, ServiceError
 */
export async function prepareExchange(
  wire: WireRequest,
  config: HttpConfig,
  context: Pick<NodeContext, 'http' | 'credentials' | 'files' | 'signal'>,
  setting: string,
): Promise<Exchange> {
  const request: HttpRequest = {
    ...wire,
    timeoutMs: config.timeout_ms,
    maxResponseBytes: config.max_response_bytes,
    maxRedirects: config.follow_redirects ? MAX_REDIRECTS : 0,
    ...(config.response_type === 'file' ? { save: savingTo(wire, config, context) } : {}),
  };
  if (config.auth.type !== 'credential') {
    return { shown: wire, send: () => context.http.send(request, context.signal) };
  }
  const { credential_id: id } = config.auth;
  if (id === 0) throw new NodeProblem(noCredential(setting, HTTP_CREDENTIAL_TYPES));
  const authenticated = await context.credentials.authenticate(id, request);
  return { shown: authenticated.shown, send: () => authenticated.send(context.signal) };
}

/** Stores the body of a response that is wanted. Any other is read: it says what went wrong. */
function savingTo(
  { method, url }: WireRequest,
  config: HttpConfig,
  { files }: Pick<NodeContext, 'files'>,
): NonNullable<HttpRequest['save']> {
  return ({ status, headers }) => {
    if (method === 'HEAD' || !isSuccess(status, config.success_statuses)) return null;
    const file = { name: responseFileName(headers, url), type: headers['content-type'] ?? '' };
    return (content) => files.save(file, content);
  };
}
