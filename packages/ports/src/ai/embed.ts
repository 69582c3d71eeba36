import type { GuardedFetch } from '@millrace/egress/guarded-fetch';
import type { AiEmbedding, AiEmbedRequest, CredentialOf } from '@millrace/engine';
import { message } from '@millrace/messages';
import { AnswerProblem } from './errors.ts';
import { aiUrl, keyHeaders } from './models.ts';
import { ProviderResponse } from './provider-error.ts';
import { member, numberIn, toUsage } from './usage.ts';

/** Of one response; parsing that much takes some 30 ms. 32 vectors of 4,096 numbers take 3 MB. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Numbers in a vector; also the most that can be stored. */
const MAX_DIMENSION = 4096;

type Outbound = Pick<GuardedFetch, 'fetch'>;

/**
 * One request for the vectors of some texts. The client library isn't used: both formats are one JSON document each.
 * @throws AnswerProblem, ProviderResponse, HttpClientError
 */
export async function askForVectors(
  credential: CredentialOf<'ai'>,
  request: AiEmbedRequest,
  outbound: Outbound,
  signal: AbortSignal,
): Promise<AiEmbedding> {
  const format = FORMATS[credential.provider];
  if (format === null) throw new AnswerProblem('ai_unsupported', message('ports.no_embeddings'), false);
  const { path, body } = format.write(request);
  const response = await outbound.fetch(
    aiUrl(credential, path),
    {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...keyHeaders(credential) },
      body: JSON.stringify(body),
      signal,
    },
    MAX_BYTES,
  );
  const text = await response.text();
  if (!response.ok) {
    throw new ProviderResponse(response.status, text, Object.fromEntries(response.headers));
  }
  const answer = format.read(parse(text));
  const vectors = answer.vectors.map(toVector);
  const dimension = vectors[0]?.length ?? 0;
  const isComplete = vectors.length === request.texts.length;
  if (!isComplete || vectors.some((vector) => vector.length !== dimension)) {
    throw wrongFormat();
  }
  return { vectors, usage: toUsage(answer.tokens, 0) };
}

interface Format {
  write(request: AiEmbedRequest): { readonly path: string; readonly body: object };
  read(answer: unknown): { readonly vectors: readonly unknown[]; readonly tokens: number };
}

const FORMATS: Record<CredentialOf<'ai'>['provider'], Format | null> = {
  /** https://platform.openai.com/docs/api-reference/embeddings/create */
  openai_compatible: {
    write: ({ model, texts, dimensions }) => ({
      path: '/embeddings',
      body: {
        model,
        input: texts,
        encoding_format: 'float',
        ...(dimensions === null ? {} : { dimensions }),
      },
    }),
    read(answer) {
      const data = listIn(answer, 'data');
      // Documented to be in order; some servers number them instead.
      const numbered = data.map((each, at) => ({ index: numberIn(each, 'index') ?? at, each }));
      return {
        vectors: numbered.toSorted((a, b) => a.index - b.index).map(({ each }) => member(each, 'embedding')),
        tokens:
          numberIn(member(answer, 'usage'), 'prompt_tokens') ??
          numberIn(member(answer, 'usage'), 'total_tokens') ??
          0,
      };
    },
  },
  /** https://ai.google.dev/api/embeddings#method:-models.batchembedcontents */
  google: {
    write({ model, texts, dimensions, purpose }) {
      const name = `models/${model.replace(/^models\//, '')}`;
      return {
        path: `/${name}:batchEmbedContents`,
        body: {
          requests: texts.map((text) => ({
            model: name,
            content: { parts: [{ text }] },
            taskType: purpose === 'query' ? 'RETRIEVAL_QUERY' : 'RETRIEVAL_DOCUMENT',
            ...(dimensions === null ? {} : { outputDimensionality: dimensions }),
          })),
        },
      };
    },
    read: (answer) => ({
      vectors: listIn(answer, 'embeddings').map((each) => member(each, 'values')),
      // Most models of this API don't report any.
      tokens: numberIn(member(answer, 'usageMetadata'), 'promptTokenCount') ?? 0,
    }),
  },
  anthropic: null,
};

/** With the plain parser: the numbers are of single precision, and there are a hundred thousand of them. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrongFormat();
  }
}

function toVector(value: unknown): readonly number[] {
  const isVector =
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= MAX_DIMENSION &&
    value.every((each) => typeof each === 'number' && Number.isFinite(each));
  if (!isVector) throw wrongFormat();
  return value as readonly number[];
}

function wrongFormat(): AnswerProblem {
  return new AnswerProblem('ai_invalid_response', message('ports.not_vectors', { max: MAX_DIMENSION }), true);
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = member(value, name);
  if (!Array.isArray(list)) throw wrongFormat();
  return list as readonly unknown[];
}
