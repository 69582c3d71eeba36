import type { AiProvider, CredentialOf } from '@millrace/engine';
import { refusalIn } from './provider-error.ts';

/**
 * Servers that speak a provider's format do not all know all of it. What a model is asked in:
 * - `schema`: the provider itself holds the answer to the JSON Schema;
 * - `object`: it holds the answer to JSON, the schema stands in the instructions;
 * - `prompt`: the schema stands in the instructions, nothing else holds it.
 * The answer is checked in each of them.
 */
export interface Dialect {
  readonly output: 'schema' | 'object' | 'prompt';
  /** What OpenAI renamed and many others did not. */
  readonly limitName: 'max_tokens' | 'max_completion_tokens';
  /** Whether usage may be asked for in the stream. */
  readonly hasStreamOptions: boolean;
}

/** Which dialect a model was found to understand; forgotten with the process, learned again by one refused request. */
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
      const [oldest] = known.keys();
      if (known.size >= MAX_REMEMBERED && oldest !== undefined) known.delete(oldest);
      known.set(keyOf(credential, model), dialect);
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

/** What to try after a request was refused; undefined when the refusal is about something else. */
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
