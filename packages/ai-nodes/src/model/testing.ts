import {
  type AiAnswer,
  type AiRequest,
  type JsonObject,
  type JsonValue,
  type NodeDefinition,
  type NodeResult,
  ServiceError,
} from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { saying } from '@millrace/messages/testing';
import { type RunOptions, runNode } from '@millrace/node-kit/testing';
import { expect } from 'vitest';
import { exampleAnswer, exampleCredential } from './examples.ts';

/** An answer that fits: 110 tokens. */
export function saysThat(object: JsonValue): AiAnswer {
  return { ...exampleAnswer(JSON.stringify(object), 100, 10), object };
}

/** What the port reports about an answer that doesn't fit: 40 tokens. */
export function misfit(text: string, ...errors: readonly string[]): ServiceError {
  return new ServiceError('ai_invalid_output', verbatim('It does not fit.'), {
    retryable: true,
    consumedAiTokens: 40,
    details: { text, ...(errors.length === 0 ? {} : { errors }) },
  });
}

/** How a node ended, and what it asked the model. */
export interface Asked {
  readonly result: NodeResult;
  readonly asked: readonly AiRequest[];
  /** The first of them. */
  readonly request: AiRequest | undefined;
}

/** In the order in which they are given. */
export type Answers = readonly (AiAnswer | ServiceError)[];
export type AskOptions = Omit<RunOptions, 'config' | 'ai'>;

/** Runs a node whose model gives these answers. */
export async function ask(
  definition: NodeDefinition,
  config: JsonObject,
  answers: Answers,
  options: AskOptions = {},
): Promise<Asked> {
  const asked: AiRequest[] = [];
  const { result } = await runNode(definition, {
    credential: exampleCredential('openai_compatible'),
    ...options,
    config,
    ai: (request) => {
      asked.push(request);
      const answer = answers[asked.length - 1];
      if (answer === undefined) throw new Error('the script has no more answers');
      return answer instanceof ServiceError ? Promise.reject(answer) : answer;
    },
  });
  return { result, asked, request: asked[0] };
}

/** The settings were refused, in these words, before the model was asked. */
export function expectRefused({ result, asked }: Asked, words: RegExp): void {
  expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config', retryable: false });
  expect(result).toHaveProperty('message', saying(words));
  expect(asked).toEqual([]);
}

/** In test mode the request is shown, without the key, and not sent. */
export function expectShown({ result, asked }: Asked, shown: object): void {
  expect(asked).toEqual([]);
  expect(result).toMatchObject({ kind: 'success', ...shown });
  expect(JSON.stringify(result)).not.toContain('your-key');
}
