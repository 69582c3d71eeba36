import type { GuardedFetch } from '@millrace/egress/guarded-fetch';
import type { AiProvider, CredentialOf } from '@millrace/engine';
import type { LanguageModel } from 'ai';
import { readableAnswer } from './answer-body.ts';
import type { Dialect } from './dialects.ts';

/** Each provider's default base URL, including the version, as in their own tools. */
const BASE_URLS: Record<AiProvider, string> = {
  openai_compatible: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};

type Place = Pick<CredentialOf<'ai'>, 'base_url' | 'provider'>;

/** The URL of a resource of the credential's API. The base URL's query (`?api-version=...`) is sent with each request. */
export function aiUrl(place: Place, path: string): string {
  return withQuery(`${aiBaseUrl(place)}${path}`, place);
}

/** How the key is sent to each provider. */
const SIGN_IN: Record<AiProvider, (key: string) => { readonly [name: string]: string }> = {
  openai_compatible: (key) => ({ authorization: `Bearer ${key}` }),
  anthropic: (key) => ({ 'x-api-key': key }),
  google: (key) => ({ 'x-goog-api-key': key }),
};

/** The header with the key; none without a key. */
export function keyHeaders({
  provider,
  api_key: key,
}: {
  readonly provider: AiProvider;
  readonly api_key: string | null;
}): { readonly [name: string]: string } {
  return key === null || key === '' ? {} : SIGN_IN[provider](key);
}

/** The credential's base URL without its query and trailing slash. */
function aiBaseUrl({ base_url: baseUrl, provider }: Place): string {
  return (baseUrl ?? BASE_URLS[provider]).replace(/[?#].*$/s, '').replace(/\/+$/, '');
}

function withQuery(address: string, { base_url: baseUrl }: Place): string {
  const own = baseUrl === null ? '' : (URL.parse(baseUrl)?.search.slice(1) ?? '');
  if (own === '') return address;
  return `${address}${address.includes('?') ? '&' : '?'}${own}`;
}

/**
 * The client library's model for one call. Base URL and key are always passed: without them, the libraries would read this
 * process's environment.
 */
export async function createModel(
  credential: CredentialOf<'ai'>,
  name: string,
  dialect: Dialect,
  way: { readonly outbound: Pick<GuardedFetch, 'fetch'>; readonly maxAnswerBytes: number },
): Promise<Exclude<LanguageModel, string>> {
  const settings = {
    baseURL: aiBaseUrl(credential),
    // Never omitted, see above; the OpenAI-compatible library sends no header for an empty key.
    apiKey: credential.api_key ?? '',
    fetch: toFetch(way, credential),
  };
  switch (credential.provider) {
    case 'openai_compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const provider = createOpenAICompatible({
        ...settings,
        name: 'openaiCompatible',
        includeUsage: dialect.hasStreamOptions,
        supportsStructuredOutputs: dialect.output === 'schema',
        ...(dialect.limitName === 'max_tokens' ? {} : { transformRequestBody: renameLimit }),
      });
      return provider.chatModel(name);
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic(settings)(name);
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google');
      return createGoogle(settings)(name);
    }
  }
}

function renameLimit({ max_tokens, ...body }: { readonly [name: string]: unknown }): {
  [name: string]: unknown;
} {
  return max_tokens === undefined ? body : { ...body, max_completion_tokens: max_tokens };
}

/** The guarded client as the fetch function that the libraries call; they only POST JSON. */
function toFetch(
  way: { readonly outbound: Pick<GuardedFetch, 'fetch'>; readonly maxAnswerBytes: number },
  credential: CredentialOf<'ai'>,
): typeof globalThis.fetch {
  return async (input, init) => {
    const { method, headers, body, signal } = init ?? {};
    if (input instanceof Request || (body !== undefined && body !== null && typeof body !== 'string')) {
      throw new Error('only texts are sent to a model, and to an address');
    }
    const request = {
      ...(method === undefined ? {} : { method }),
      headers: new Headers(headers),
      ...(typeof body === 'string' ? { body } : {}),
      signal: signal ?? null,
    };
    const url = withQuery(String(input), credential);
    const answer = await way.outbound.fetch(url, request, way.maxAnswerBytes);
    return readableAnswer(answer, credential.provider);
  };
}
