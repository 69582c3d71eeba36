import { type CredentialOf, type Failure, failure, type NodeContext, ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { serviceFailure } from '@millrace/node-kit/service-failure';
import { Type } from 'typebox';
import { callProperties } from './config.ts';

/** In one request; Google takes at most 100, and many servers of their own fewer. */
const MAX_BATCH = 32;
/** In one request, all texts together: well below what providers take in tokens. */
const MAX_BATCH_CHARACTERS = 200_000;
const MAX_CHARACTERS = 100_000;

export const dimensionsProperty = (marks: { readonly 'x-when'?: object } = {}) =>
  Type.Union([Type.Integer({ minimum: 1, maximum: 4096 }), Type.Null()], {
    title: 'Dimensions',
    description:
      'How many numbers a vector has. Fewer take less room and time, and find less. Not all models support this. Empty: as many as the model makes.',
    default: null,
    ...marks,
  });

/** The settings of nodes that make vectors. */
export const embedProperties = {
  credential_id: callProperties.credential_id,
  model: Type.String({
    ...callProperties.model,
    description:
      "The provider's name for a model that makes embeddings, such as text-embedding-3-small or gemini-embedding-001.",
  }),
  dimensions: dimensionsProperty(),
  timeout_ms: Type.Integer({
    ...callProperties.timeout_ms,
    description: 'Time limit for one request in milliseconds. Up to 32 texts are sent in one.',
    default: 60_000,
  }),
};

export interface EmbedConfig {
  readonly model: string;
  readonly dimensions: number | null;
  readonly timeout_ms: number;
}

/** The vectors of some texts, or why there are none. */
export type Embedded =
  | {
      readonly kind: 'vectors';
      readonly vectors: readonly (readonly number[])[];
      readonly tokens: number;
    }
  | Failure;

/** The first text that can't be sent. */
export function unfitText(texts: readonly string[]): Failure | undefined {
  const index = texts.findIndex((text) => text.trim() === '' || text.length > MAX_CHARACTERS);
  return index === -1
    ? undefined
    : failure('invalid_config', message('nodes.unfit_text', { index, max: MAX_CHARACTERS }));
}

/** Texts in groups that fit in one request each. */
export function* batches<Item>(
  items: readonly Item[],
  lengthOf: (item: Item) => number,
): Generator<readonly Item[]> {
  let batch: Item[] = [];
  let characters = 0;
  for (const item of items) {
    const length = lengthOf(item);
    if (batch.length === MAX_BATCH || (batch.length > 0 && characters + length > MAX_BATCH_CHARACTERS)) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(item);
    characters += length;
  }
  if (batch.length > 0) yield batch;
}

/**
 * The vectors of one batch, if the budget isn't used up.
 * @param consumed tokens that this attempt has consumed before
 */
export async function embedBatch(
  config: EmbedConfig,
  texts: readonly string[],
  purpose: 'document' | 'query',
  {
    credential,
    context,
    consumed,
  }: {
    readonly credential: CredentialOf<'ai'>;
    readonly context: NodeContext;
    readonly consumed: number;
  },
): Promise<Embedded> {
  if (context.aiTokensLeft !== null && context.aiTokensLeft - consumed <= 0) {
    return failure('token_budget_exceeded', message('nodes.no_budget_left'), { consumedAiTokens: consumed });
  }
  const { model, dimensions, timeout_ms: timeoutMs } = config;
  try {
    const request = { model, texts, dimensions, purpose, timeoutMs };
    const { vectors, usage } = await context.ai.embed(credential, request, context.signal);
    return { kind: 'vectors', vectors, tokens: usage.totalTokens };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const failed = serviceFailure(error);
    return { ...failed, consumedAiTokens: failed.consumedAiTokens + consumed };
  }
}
