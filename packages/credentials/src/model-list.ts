import type { CredentialOf, HttpRequest } from '@millrace/engine';
import { aiUrl, keyHeaders } from '@millrace/ports/ai/models';

const MAX_BYTES = 8 * 1024 * 1024;

/** The URL of the list of models. */
export function modelsUrl(
  credential: Pick<CredentialOf<'ai'>, 'provider' | 'base_url'>,
  query: string = '',
): string {
  return aiUrl(credential, `/models${query}`);
}

/**
 * The request for the list of models, which costs nothing.
 * @param key null: without it
 */
export function modelsRequest(
  credential: Pick<CredentialOf<'ai'>, 'provider' | 'base_url'>,
  key: string | null,
  query?: string,
): HttpRequest {
  const { provider } = credential;
  const version = provider === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {};
  return {
    method: 'GET',
    url: modelsUrl(credential, query),
    headers: { accept: 'application/json', ...version, ...keyHeaders({ provider, api_key: key }) },
    timeoutMs: 60_000,
    maxRedirects: 0,
    maxResponseBytes: MAX_BYTES,
  };
}

/** Whether the response says that the key is wrong. */
export function refusesKey(status: number, text: string): boolean {
  return status === 401 || (status === 400 && /API_KEY_INVALID/.test(text));
}
