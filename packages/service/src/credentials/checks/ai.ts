import type { AiProvider, CredentialOf, HttpResponse } from '@millrace/engine';
import { aiUrl } from '@millrace/runtime/ports/ai/models';
import { compare, isGood } from './http.ts';
import { type Attempt, failed, inconclusive, shownUrl, type TestResult, works } from './result.ts';

const MOST_BYTES = 8 * 1024 * 1024;

/** How the key is sent to each provider. */
const SIGN_IN: Record<AiProvider, (key: string) => { readonly [name: string]: string }> = {
  openai_compatible: (key) => ({ authorization: `Bearer ${key}` }),
  anthropic: (key) => ({ 'x-api-key': key }),
  google: (key) => ({ 'x-goog-api-key': key }),
};

/** Requests the list of models, which costs nothing. Some servers show it to everyone, so it is requested without the key, too. */
export async function testAi(attempt: Attempt<'ai'>): Promise<TestResult> {
  const { credential, signal } = attempt;
  const url = modelsUrl(credential);
  const where = shownUrl(url);
  const ask = (headers: { readonly [name: string]: string }): Promise<HttpResponse> =>
    attempt.egress.http(attempt.organisationId).send(
      {
        method: 'GET',
        url,
        headers: { accept: 'application/json', ...versionHeader(credential), ...headers },
        timeoutMs: 60_000,
        maxRedirects: 0,
        maxResponseBytes: MOST_BYTES,
      },
      signal,
    );
  const { api_key: key } = credential;
  const response = await ask(key === null ? {} : SIGN_IN[credential.provider](key));
  const { status } = response;
  const text = new TextDecoder().decode(response.body);
  if (status === 401 || (status === 400 && /API_KEY_INVALID/.test(text)))
    return failed('refused', where, null, status);
  if (status === 403) return failed('forbidden', where, null, status);
  if (status === 404 || status === 405) return inconclusive('no_model_list', where, status);
  if (!isGood(status)) return inconclusive('other_status', where, status);
  if (!isModelList(text)) return failed('ai_invalid_response', where, null, status);
  if (key === null) return works('accepted', where, status);
  return compare(where, status, async () => (await ask({})).status);
}

/** The URL of the list of models. */
export function modelsUrl(credential: Pick<CredentialOf<'ai'>, 'provider' | 'base_url'>): string {
  return aiUrl(credential, '/models');
}

function versionHeader({ provider }: CredentialOf<'ai'>): { readonly [name: string]: string } {
  return provider === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {};
}

/** `data` from OpenAI and Anthropic, `models` from Google. */
function isModelList(text: string): boolean {
  try {
    const body = JSON.parse(text) as { data?: unknown; models?: unknown } | null;
    return Array.isArray(body?.data) || Array.isArray(body?.models);
  } catch {
    return false;
  }
}
