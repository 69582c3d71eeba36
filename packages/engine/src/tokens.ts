/** Consumed AI tokens. */
export interface Tokens {
  readonly consumedAiTokens: number;
  /** The share of executions that were started and awaited; absent for none. */
  readonly childAiTokens?: number;
}

/** A sum of {@link Tokens}. */
export interface TokenSum {
  consumedAiTokens: number;
  childAiTokens: number;
}

/** Adds in place. */
export function addTokens(sum: TokenSum, { consumedAiTokens, childAiTokens = 0 }: Tokens): void {
  sum.consumedAiTokens += consumedAiTokens;
  sum.childAiTokens += childAiTokens;
}

/** For records: omits a share of children that is zero. */
export function tokensOf({ consumedAiTokens, childAiTokens = 0 }: Tokens): Tokens {
  return childAiTokens === 0 ? { consumedAiTokens } : { consumedAiTokens, childAiTokens };
}

/** The same with more tokens. */
export function withTokens<Counted extends Tokens>(counted: Counted, more: Tokens): Counted {
  const { consumedAiTokens, childAiTokens = 0 } = more;
  if (consumedAiTokens === 0) return counted;
  const sum = {
    consumedAiTokens: counted.consumedAiTokens + consumedAiTokens,
    childAiTokens: (counted.childAiTokens ?? 0) + childAiTokens,
  };
  return { ...counted, ...tokensOf(sum) };
}
