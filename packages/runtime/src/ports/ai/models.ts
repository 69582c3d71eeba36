import type { GuardedFetch } from '@millrace/egress/guarded-fetch';
import type { AiProvider, CredentialOf } from '@millrace/engine';
import type { LanguageModel } from 'ai';
import { readableAnswer } from './answer-body.ts';
import type { Dialect } from './dialects.ts';

/** Where each provider is when the credential names no other place; the version is part of it, as their own tools have it. */
const BASE_URLS: Record<AiProvider, string> = {
  openai_compatible: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};

type Place = Pick<CredentialOf<'ai'>, 'base_url' | 'provider'>;

/** Where a resource of the credential's interface is. What the base URL asks for (`?api-version=...`) goes with each request. */
export function aiUrl(place: Place, path: string): string {
  return withQuery(`${aiBaseUrl(place)}${path}`, place);
}

/** Where the credential's interface is, without its query and a slash at its end. */
function aiBaseUrl({ base_url: baseUrl, provider }: Place): string {
  return (baseUrl ?? BASE_URLS[provider]).replace(/[?#].*$/s, '').replace(/\/+$/, '');
}

function withQuery(address: string, { base_url: baseUrl }: Place): string {
  const own = baseUrl === null ? '' : (URL.parse(baseUrl)?.search.slice(1) ?? '');
  if (own === '') return address;
  return `${address}${address.includes('?') ? '&' : '?'}${own}`;
}

/**
 * The client library's model for one call. Base URL and key are always given: left away, the libraries would read them
 * from the environment of this process.
 */
export async function createModel(
  credential: CredentialOf<'ai'>,
  name: string,
  dialect: Dialect,
  way: { readonly outbound: Pick<GuardedFetch, 'fetch'>; readonly maxAnswerBytes: number },
): Promise<Exclude<LanguageModel, string>> {
  const settings = {
    baseURL: aiBaseUrl(credential),
    // Never left away, see above; the OpenAI-compatible one sends no header for an empty key.
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

/** The guarded client in the shape that the libraries call; they post JSON and nothing else. */
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
