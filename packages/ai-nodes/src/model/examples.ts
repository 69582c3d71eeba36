import type { AiAnswer, AiProvider, CredentialOf } from '@millrace/engine';

/** A credential for the examples of nodes. */
export function exampleCredential(provider: AiProvider): CredentialOf<'ai'> {
  return { type: 'ai', provider, base_url: null, api_key: 'your-key' };
}

/** A model's response in an example. */
export function exampleAnswer(text: string, inputTokens: number, outputTokens: number): AiAnswer {
  return {
    text,
    object: null,
    toolCalls: [],
    finishReason: 'stop',
    usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
  };
}
