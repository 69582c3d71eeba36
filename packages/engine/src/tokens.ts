/** AI tokens that were consumed. */
export interface Tokens {
  readonly consumedAiTokens: number;
  /** What of them executions consumed that were started and waited for; absent for none. */
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

/** As records carry them: without a share of children that is none. */
export function tokensOf({ consumedAiTokens, childAiTokens = 0 }: Tokens): Tokens {
  return childAiTokens === 0 ? { consumedAiTokens } : { consumedAiTokens, childAiTokens };
}

/** The same with so many more. */
export function withTokens<Counted extends Tokens>(counted: Counted, more: Tokens): Counted {
  const { consumedAiTokens, childAiTokens = 0 } = more;
  if (consumedAiTokens === 0) return counted;
  const sum = {
    consumedAiTokens: counted.consumedAiTokens + consumedAiTokens,
    childAiTokens: (counted.childAiTokens ?? 0) + childAiTokens,
  };
  return { ...counted, ...tokensOf(sum) };
}
