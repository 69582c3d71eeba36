import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Flow } from '../src/index.ts';
import { arbitraryFlow, differenceOf, evaluateFlow, planOf } from './support/index.ts';
import { isEnded, type Schedule, World, type WorldEnd } from './support/world.ts';

const arbitraryChoices = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), {
  minLength: 1,
  maxLength: 40,
});

/** fast-check prints seed and path of a failure; `MILLRACE_SEED` runs that one again. */
const seed = process.env.MILLRACE_SEED;
const PARAMETERS = seed === undefined ? {} : { seed: Number(seed) };

/**
 * Flows that broke a rule once, by name; they are run for ever. fast-check's counterexample is pasted as it is.
 */
const REGRESSIONS: readonly { readonly name: string; readonly flow: Flow; readonly schedule: Schedule }[] =
  [];

function undisturbed(choices: readonly number[]): Schedule {
  return { choices, crashesAt: new Set(), cancelAt: null };
}

/** Compares an end with the model; a cancelled or failed execution is compared as far as it came. */
function agree(flow: Flow, end: WorldEnd): void {
  const expected = evaluateFlow(flow);
  const failing = [...expected].filter(([, node]) => node.failsExecution).map(([id]) => id);
  for (const [id, record] of end.records) {
    const node = expected.get(id);
    if (node === undefined) throw new Error(`a record of the unknown node ${id}`);
    if (isEnded(record)) expect(differenceOf(record, node)).toBeNull();
  }
  if (end.outcome.status === 'failed') {
    expect(failing).toContain(end.outcome.error.nodeId);
  } else if (end.outcome.status === 'completed') {
    expect(failing).toEqual([]);
    expect([...end.records.keys()].sort()).toEqual(flow.nodes.map((node) => node.id).sort());
    expect([...end.records.values()].every(isEnded)).toBe(true);
    const tokens = [...expected.values()].reduce((sum, node) => sum + node.tokens, 0);
    expect(end.consumedAiTokens).toBe(tokens);
  }
  for (const { id, type } of flow.nodes) {
    const hasRun = expected.get(id)?.status === 'success' && end.outcome.status === 'completed';
    if (type === 'test.effect' && hasRun) expect(end.starts.get(id) ?? 0).toBeGreaterThanOrEqual(1);
  }
}

describe('model', () => {
  it('E2 E12: what broke once does not break again', () => {
    for (const { name, flow, schedule } of REGRESSIONS) {
      expect(() => agree(flow, new World(planOf(flow), schedule).run()), name).not.toThrow();
    }
  });

  it('E2 E3 E5 E6 E7 E8 E9 E17 J1 J2 J3 R1: any flow in any order ends as the model says', () => {
    fc.assert(
      fc.property(arbitraryFlow(), arbitraryChoices, (flow, choices) => {
        agree(flow, new World(planOf(flow), undisturbed(choices)).run());
      }),
      { numRuns: 1_000, ...PARAMETERS },
    );
  });

  it('E11 E12 E13 R4: losing the worker at any step changes nothing of the end', () => {
    fc.assert(
      fc.property(arbitraryFlow(8), arbitraryChoices, (flow, choices) => {
        const plan = planOf(flow);
        const { effects } = new World(plan, undisturbed(choices)).run();
        for (let at = 0; at < effects; at++) {
          agree(flow, new World(plan, { choices, crashesAt: new Set([at]), cancelAt: null }).run());
        }
      }),
      { numRuns: 150, ...PARAMETERS },
    );
  });

  it('E11 E12 E13: losing the worker again and again changes nothing of the end', () => {
    fc.assert(
      fc.property(arbitraryFlow(), arbitraryChoices, fc.array(fc.nat(100)), (flow, choices, crashes) => {
        agree(flow, new World(planOf(flow), { choices, crashesAt: new Set(crashes), cancelAt: null }).run());
      }),
      { numRuns: 500, ...PARAMETERS },
    );
  });

  it('E18 E19: a cancel at any step only aborts, and what was stored is right', () => {
    fc.assert(
      fc.property(arbitraryFlow(), arbitraryChoices, fc.nat(30), (flow, choices, cancelAt) => {
        agree(flow, new World(planOf(flow), { choices, crashesAt: new Set(), cancelAt }).run());
      }),
      { numRuns: 300, ...PARAMETERS },
    );
  });

  it('E2: without a failing node the records are the same in every order, times apart', () => {
    fc.assert(
      fc.property(arbitraryFlow(), arbitraryChoices, arbitraryChoices, (flow, one, other) => {
        const plan = planOf(flow);
        const [first, second] = [one, other].map((choices) => new World(plan, undisturbed(choices)).run());
        fc.pre(first?.outcome.status === 'completed');
        const strip = (end: WorldEnd | undefined): unknown =>
          [...(end?.records ?? [])]
            .map(([, record]) => ({ ...record, startedAtMs: 0, completedAtMs: 0 }))
            .sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1));
        expect(strip(second)).toEqual(strip(first));
      }),
      { numRuns: 300, ...PARAMETERS },
    );
  });
});
