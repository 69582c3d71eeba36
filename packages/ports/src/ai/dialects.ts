import { type AiProvider, type CredentialOf, remember } from '@millrace/engine';
import { refusalIn } from './provider-error.ts';

/**
 * Not every server that speaks a provider's format supports all of it. The ways of requesting structured output:
 * - `schema`: the provider itself enforces the JSON Schema;
 * - `object`: the provider enforces JSON, and the schema is in the instructions;
 * - `prompt`: the schema is in the instructions, and nothing enforces it.
 * The response is validated in every case.
 */
export interface Dialect {
  readonly output: 'schema' | 'object' | 'prompt';
  /** Renamed by OpenAI but not by many others. */
  readonly limitName: 'max_tokens' | 'max_completion_tokens';
  /** Whether usage may be requested in the stream. */
  readonly hasStreamOptions: boolean;
}

/** The dialect each model was found to understand; lost with the process, relearned from one rejected request. */
export interface Dialects {
  of(credential: CredentialOf<'ai'>, model: string): Dialect;
  remember(credential: CredentialOf<'ai'>, model: string, dialect: Dialect): void;
}

const MAX_REMEMBERED = 1_000;

export function createDialects(): Dialects {
  const known = new Map<string, Dialect>();
  const keyOf = ({ provider, base_url }: CredentialOf<'ai'>, model: string): string =>
    JSON.stringify([provider, base_url, model]);
  return {
    of: (credential, model) => known.get(keyOf(credential, model)) ?? firstDialect(credential),
    remember(credential, model, dialect) {
      remember(known, keyOf(credential, model), dialect, MAX_REMEMBERED);
    },
  };
}

function firstDialect({ provider, base_url }: CredentialOf<'ai'>): Dialect {
  const isOpenAi =
    provider === 'openai_compatible' &&
    (base_url === null || URL.parse(base_url)?.hostname === 'api.openai.com');
  return {
    output: 'schema',
    limitName: isOpenAi ? 'max_completion_tokens' : 'max_tokens',
    hasStreamOptions: true,
  };
}

/** What to try after a rejected request; undefined if the rejection is about something else. */
export function otherDialect(dialect: Dialect, provider: AiProvider, error: unknown): Dialect | undefined {
  const refusal = refusalIn(error);
  if (refusal === undefined || (refusal.status !== 400 && refusal.status !== 422)) return undefined;
  const { text } = refusal;
  if (dialect.hasStreamOptions && /stream_options|include_usage/i.test(text)) {
    return { ...dialect, hasStreamOptions: false };
  }
  if (dialect.limitName === 'max_tokens' && /max_completion_tokens/i.test(text)) {
    return { ...dialect, limitName: 'max_completion_tokens' };
  }
  if (dialect.output === 'prompt' || !ABOUT_OUTPUT.test(text)) return undefined;
  const output = dialect.output === 'schema' && provider !== 'anthropic' ? 'object' : 'prompt';
  return { ...dialect, output };
}

const ABOUT_OUTPUT =
  /response_?format|json_?schema|json_?object|response_?(json_?)?schema|response_?mime_?type|response mime type|output_config|output_format|structured[ _]?output|guided|grammar/i;
