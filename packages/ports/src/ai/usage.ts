import type { AiProvider, AiUsage } from '@millrace/engine';

interface Counts {
  readonly input: number;
  readonly output: number;
}

/** The counts in one event; those it doesn't report are absent. */
type Reading = { readonly [Name in keyof Counts]?: number };

const NOTHING: Counts = { input: 0, output: 0 };

export type UsageMeter = ReturnType<typeof createUsageMeter>;

/**
 * Sums the token counts a provider reports while it responds, so that they are known even if it breaks off. Every provider reports running
 * totals for the request; the latest one counts.
 */
export function createUsageMeter(provider: AiProvider) {
  const read = READERS[provider];
  let earlier = NOTHING;
  let current = NOTHING;
  let started = false;
  return {
    /** Takes an event of the provider's stream, unmodified. */
    observe(event: unknown): void {
      started = true;
      current = { ...current, ...read(event) };
      if (!goesOnInAnotherRequest(event)) return;
      earlier = { input: earlier.input + current.input, output: earlier.output + current.output };
      current = NOTHING;
    },
    /** Whether the provider has started to respond. */
    hasStarted: () => started,
    total: () => toUsage(earlier.input + current.input, earlier.output + current.output),
  };
}

/** Gemini splits a very long response; the client library requests the next part, which starts counting from 0. */
function goesOnInAnotherRequest(event: unknown): boolean {
  const candidates = member(event, 'candidates');
  return Array.isArray(candidates) && member(candidates[0], 'finishReason') === 'CONTINUATION';
}

/** The total is always the sum: providers differ in what they include in theirs. */
export function toUsage(inputTokens: number, outputTokens: number): AiUsage {
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}

const READERS: Record<AiProvider, (event: unknown) => Reading> = {
  /** https://platform.openai.com/docs/api-reference/chat-streaming: null until the chunk before `[DONE]`. */
  openai_compatible(event) {
    const usage = member(event, 'usage');
    return reading(numberIn(usage, 'prompt_tokens'), numberIn(usage, 'completion_tokens'));
  },
  /**
   * https://docs.anthropic.com/en/api/messages-streaming: input with `message_start`, output so far with each
   * `message_delta`. Prompt cache tokens are reported separately from the input and were consumed as well.
   */
  anthropic(event) {
    const usage = member(member(event, 'message'), 'usage') ?? member(event, 'usage');
    const input = numberIn(usage, 'input_tokens');
    const cached =
      (numberIn(usage, 'cache_creation_input_tokens') ?? 0) +
      (numberIn(usage, 'cache_read_input_tokens') ?? 0);
    return reading(input === undefined ? undefined : input + cached, numberIn(usage, 'output_tokens'));
  },
  /** https://ai.google.dev/api/generate-content#UsageMetadata: thoughts are not counted in the candidates' tokens. */
  google(event) {
    const usage = member(event, 'usageMetadata');
    const prompt = numberIn(usage, 'promptTokenCount');
    const written = numberIn(usage, 'candidatesTokenCount');
    const thoughts = numberIn(usage, 'thoughtsTokenCount');
    const tools = numberIn(usage, 'toolUsePromptTokenCount') ?? 0;
    return reading(
      prompt === undefined ? undefined : prompt + tools,
      written === undefined && thoughts === undefined ? undefined : (written ?? 0) + (thoughts ?? 0),
    );
  },
};

function reading(input: number | undefined, output: number | undefined): Reading {
  return { ...(input === undefined ? {} : { input }), ...(output === undefined ? {} : { output }) };
}

/** An own member of something that a provider returned. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as { readonly [name: string]: unknown })[name]
    : undefined;
}

/** An impossible count (a string, a fraction, a negative number) is ignored. */
export function numberIn(value: unknown, name: string): number | undefined {
  const found = member(value, name);
  return typeof found === 'number' && Number.isSafeInteger(found) && found >= 0 ? found : undefined;
}
