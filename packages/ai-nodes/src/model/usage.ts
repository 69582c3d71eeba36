import type { AiUsage } from '@millrace/engine';

/** The tokens of an answer as outputs show them. */
export function presentUsage({ inputTokens, outputTokens, totalTokens }: AiUsage): {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
} {
  return { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: totalTokens };
}
