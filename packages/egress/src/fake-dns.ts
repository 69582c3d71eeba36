import type { ResolvedAddress } from './connector.ts';

/** Answers lookups in order; the last answer is repeated. Counts the lookups. */
export function fakeDns(...answers: readonly (readonly string[])[]) {
  let asked = 0;
  const resolve = (): Promise<ResolvedAddress[]> => {
    const addresses = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    return Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
  };
  return { resolve, asked: () => asked };
}
