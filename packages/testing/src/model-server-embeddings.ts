import type { AiProvider, JsonObject } from '@millrace/engine';
import { list, type ModelError, numberOrNull, object, refuse, text } from './model-server-types.ts';

/** A client's request for vectors, parsed from either format. */
export interface EmbeddingRequest {
  /** 1 for this server's first of them. */
  readonly number: number;
  readonly provider: AiProvider;
  /** Including the query. */
  readonly path: string;
  readonly key: string | null;
  readonly model: string;
  readonly texts: readonly string[];
  readonly dimensions: number | null;
  /** Google only. */
  readonly taskType: string | null;
}

/** A vector for each text, an error, or a document that is sent as it is. */
export type EmbeddingAnswer =
  | readonly (readonly number[])[]
  | { readonly error: ModelError }
  | { readonly body: string };

/** Parses a body as strictly as the real provider. @throws WireRefusal */
export function readEmbeddingRequest(
  provider: AiProvider,
  path: string,
  body: JsonObject,
): Pick<EmbeddingRequest, 'model' | 'texts' | 'dimensions' | 'taskType'> {
  return provider === 'google' ? readGoogle(path, body) : readOpenAi(body);
}

/** https://platform.openai.com/docs/api-reference/embeddings/create */
function readOpenAi({ model, input, encoding_format: format, dimensions = null }: JsonObject) {
  if (!Array.isArray(input) || input.length === 0 || input.length > 2048) refuse("'input' is invalid");
  const texts = (input as unknown[]).map(text);
  if (texts.includes('')) refuse("'$.input' is invalid: an empty string");
  if (format !== undefined && format !== 'float' && format !== 'base64')
    refuse("'encoding_format' is invalid");
  return { model: text(model), texts, dimensions: numberOrNull(dimensions), taskType: null };
}

/** https://ai.google.dev/api/embeddings#method:-models.batchembedcontents */
function readGoogle(path: string, { requests }: JsonObject) {
  const parts = list(requests);
  const name = /models\/([^:?]+)/.exec(path)?.[1] ?? '';
  if (parts.length === 0 || parts.length > 100) refuse('at most 100 requests can be in one batch');
  if (parts.some(({ model }) => model !== `models/${name}`)) refuse('model must match the one of the batch');
  const texts = parts.map(({ content }) =>
    list(object(content).parts)
      .map((part) => text(part.text))
      .join(''),
  );
  if (texts.includes('')) refuse('content is empty');
  return {
    model: name,
    texts,
    dimensions: numberOrNull(parts[0]?.outputDimensionality),
    taskType: text(parts[0]?.taskType),
  };
}

/** The response; each text counts as as many tokens as it has words. */
export function embeddingBody(
  { provider, model, texts }: EmbeddingRequest,
  vectors: readonly (readonly number[])[],
): string {
  const tokens = texts.reduce((sum, each) => sum + each.split(/\s+/).length, 0);
  if (provider === 'google') return JSON.stringify({ embeddings: vectors.map((values) => ({ values })) });
  // Numbered, and not in order: clients have to read the numbers.
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })).reverse();
  return JSON.stringify({
    object: 'list',
    data,
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}
