import { runs } from '@millrace/testing/property-runs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Flow } from '../src/index.ts';
import { recordBytes } from '../src/record-bytes.ts';
import { agree } from './support/agreement.ts';
import { arbitraryFlow, evaluateFlow, planOf } from './support/index.ts';
import { REGRESSIONS } from './support/regressions.ts';
import { World } from './support/world.ts';
import { nameOf, type Schedule, type WorldEnd } from './support/world-schedule.ts';

const arbitraryChoices = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), {
  minLength: 1,
  maxLength: 40,
});

/** Including nested loops, waits for signals, nodes that time out and ends from inside loops. */
function anyFlow(maxNodes = 8): fc.Arbitrary<Flow> {
  const kinds = { signals: true, stops: true, hangs: true, triggers: 3 };
  // Loops in loops in loops have rules of their own, and many iterations.
  return fc.oneof(
    { weight: 29, arbitrary: arbitraryFlow(maxNodes, { ...kinds, loops: 2 }) },
    { weight: 1, arbitrary: arbitraryFlow(1, { ...kinds, loops: 3 }) },
  );
}

/** Positions over the whole run: before which effects or events something happens. */
const places = fc.array(fc.nat(100), { maxLength: 10 });

/** Numbers of attempts over the whole run; few flows have many with effects. */
const attempts = fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 6 });

/** Bytes of the trigger's output, which has ended when the execution starts. */
const TRIGGER_BYTES = 16;
/** Bytes of the empty output, `{}`. */
const EMPTY_BYTES = 2;

/** Whether it has nodes that are tried again. */
function isRepeating(flow: Flow): boolean {
  return flow.nodes.some(({ data }) => (data?.retry?.max_attempts ?? 1) > 1);
}

/** Whether the result, including tokens, is independent of the order of events. */
function isSure(flow: Flow): boolean {
  return [...evaluateFlow(flow).values()].every(({ tokens, endsAll }) => tokens !== null && !endsAll);
}

function undisturbed(choices: readonly number[]): Schedule {
  return { choices, crashesAt: new Set(), cancelAt: null };
}

describe('model', () => {
  it('E2 E12: past counterexamples pass', () => {
    for (const { name, flow, schedule } of REGRESSIONS) {
      expect(() => agree(flow, new World(planOf(flow), schedule).run()), name).not.toThrow();
    }
  });

  it('E2 E3 E5 E32 E6 E7 E8 E9 E17 E26 J1 J2 J3 R1 L1 L2 L3 L4 L6 L11 W1: any flow in any order ends as the model says', () => {
    fc.assert(
      fc.property(anyFlow(), arbitraryChoices, (flow, choices) => {
        agree(flow, new World(planOf(flow), undisturbed(choices)).run());
      }),
      { numRuns: runs(1_000) },
    );
  });

  it("E11 E12 E13 R4 L5 L8 L9 W3: losing the worker at any step doesn't change the result", () => {
    fc.assert(
      fc.property(anyFlow(6), arbitraryChoices, (flow, choices) => {
        const plan = planOf(flow);
        const { effects } = new World(plan, undisturbed(choices)).run();
        for (let at = 0; at < effects; at++) {
          agree(flow, new World(plan, { ...undisturbed(choices), crashesAt: new Set([at]) }).run());
        }
      }),
      { numRuns: runs(100) },
    );
  });

  it('E29 E12: what is stored stays within its limit, and a crash never changes whether it does', () => {
    // Without loops and retries, what is stored doesn't depend on when it is stored.
    const flows = arbitraryFlow(6).filter((flow) => !isRepeating(flow));
    fc.assert(
      fc.property(
        flows,
        arbitraryChoices,
        fc.double({ min: 0, max: 1.5, noNaN: true }),
        (flow, choices, part) => {
          const plan = planOf(flow);
          const whole = new World(plan, undisturbed(choices)).run();
          fc.pre(whole.records.every(({ status }) => status === 'success' || status === 'running'));
          const maxBytes = Math.round(whole.storedBytes * part);
          const limited = { ...undisturbed(choices), maxBytes };
          const { status, error, storedBytes, effects } = new World(plan, limited).run();
          // The trigger's own output was accepted before.
          const fits = whole.storedBytes <= Math.max(maxBytes, TRIGGER_BYTES);
          expect([status, error?.code]).toEqual(
            fits ? ['completed', undefined] : ['failed', 'execution_too_large'],
          );
          expect(storedBytes).toBeLessThanOrEqual(Math.max(maxBytes, TRIGGER_BYTES) + EMPTY_BYTES);
          for (let at = 0; at < effects; at++) {
            const end = new World(plan, { ...limited, crashesAt: new Set([at]) }).run();
            agree(flow, end);
            expect([end.status, end.error?.code]).toEqual([status, error?.code]);
          }
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it('E29: whatever a flow does, what is stored stays within its limit, apart from copies of what was', () => {
    fc.assert(
      fc.property(anyFlow(), arbitraryChoices, places, fc.nat(600), (flow, choices, crashes, maxBytes) => {
        const schedule = { ...undisturbed(choices), crashesAt: new Set(crashes), maxBytes };
        const end = new World(planOf(flow), schedule).run();
        agree(flow, end);
        const outputs = new Map<string, number>();
        for (const record of end.records) {
          const isCopy = 'iterations' in record || record.status === 'iteration_ended';
          // Of a failure that was handled, only code and message are known.
          if (isCopy || record.status === 'failed' || !('output' in record)) continue;
          // A node that exceeds the limit, and each one that waits for its next attempt, have the empty output.
          if (recordBytes(record) === EMPTY_BYTES) continue;
          const name = nameOf(record.nodeId, record.iteration);
          // The output of a delay is stored again when it is over.
          outputs.set(`${name} ${JSON.stringify(record.output)}`, recordBytes(record));
        }
        const bytes = [...outputs.values()].reduce((sum, each) => sum + each, 0);
        expect(bytes).toBeLessThanOrEqual(Math.max(maxBytes, TRIGGER_BYTES));
      }),
      { numRuns: runs(300) },
    );
  });

  it("E11 E12 E13 L8 W2: losing the worker repeatedly doesn't change the result", () => {
    fc.assert(
      fc.property(anyFlow(), arbitraryChoices, places, (flow, choices, crashes) => {
        agree(flow, new World(planOf(flow), { ...undisturbed(choices), crashesAt: new Set(crashes) }).run());
      }),
      { numRuns: runs(500) },
    );
  });

  it("E12 E18 W2: handing the execution back repeatedly doesn't change the result", () => {
    fc.assert(
      fc.property(anyFlow(), arbitraryChoices, places, places, (flow, choices, shutdowns, crashes) => {
        const schedule = { ...undisturbed(choices), crashesAt: new Set(crashes) };
        agree(flow, new World(planOf(flow), { ...schedule, shutdownsAt: new Set(shutdowns) }).run());
      }),
      { numRuns: runs(300) },
    );
  });

  it("R7 E12: putting attempts off doesn't change the result, with or without lost workers", () => {
    let waits = 0;
    fc.assert(
      fc.property(anyFlow(), arbitraryChoices, attempts, places, (flow, choices, putOffs, crashes) => {
        const schedule = { ...undisturbed(choices), crashesAt: new Set(crashes) };
        const end = new World(planOf(flow), { ...schedule, putOffsAt: new Set(putOffs) }).run();
        if (end.records.some((record) => record.status === 'waiting' && record.reason === 'host')) waits += 1;
        agree(flow, end);
      }),
      { numRuns: runs(300) },
    );
    expect(waits).toBeGreaterThan(runs(30));
  });

  it('E18 E19: a cancel at any step only aborts, and what was stored is right, with or without crashes before it', () => {
    let cancelled = 0;
    fc.assert(
      fc.property(anyFlow(), arbitraryChoices, fc.nat(30), places, (flow, choices, cancelAt, crashes) => {
        const end = new World(planOf(flow), { choices, crashesAt: new Set(crashes), cancelAt }).run();
        if (end.status === 'cancelled') cancelled += 1;
        agree(flow, end);
      }),
      { numRuns: runs(300) },
    );
    expect(cancelled).toBeGreaterThan(runs(30));
  });

  it('E10 E14: past the deadline it fails, before it ends as without one', () => {
    let late = 0;
    fc.assert(
      fc.property(
        anyFlow(),
        arbitraryChoices,
        fc.nat(40_000),
        places,
        (flow, choices, timeoutMs, crashes) => {
          const schedule = { ...undisturbed(choices), crashesAt: new Set(crashes), timeoutMs };
          const end = new World(planOf(flow), schedule).run();
          if (end.error?.code === 'execution_timeout') late += 1;
          agree(flow, end);
        },
      ),
      { numRuns: runs(300) },
    );
    expect(late).toBeGreaterThan(runs(30));
  });

  it('E2: without a failing node the records are the same in every order, apart from times', () => {
    fc.assert(
      fc.property(anyFlow(), arbitraryChoices, arbitraryChoices, (flow, one, other) => {
        const plan = planOf(flow);
        const [first, second] = [one, other].map((choices) => new World(plan, undisturbed(choices)).run());
        fc.pre(first?.status === 'completed' && isSure(flow));
        const strip = (end: WorldEnd | undefined): unknown =>
          [
            ...new Map(
              (end?.records ?? []).map((record) => [nameOf(record.nodeId, record.iteration), record]),
            ),
          ]
            .filter(([name]) => !name.includes(' '))
            .map(([name, record]) => ({ ...record, name, startedAtMs: 0, completedAtMs: 0, signalSeq: 0 }))
            .sort((a, b) => (a.name < b.name ? -1 : 1));
        expect(strip(second)).toEqual(strip(first));
      }),
      { numRuns: runs(300) },
    );
  });

  it('B1 B2 E17: using up the budget changes nothing, exceeding it fails the execution', () => {
    let passed = 0;
    fc.assert(
      fc.property(anyFlow(5), arbitraryChoices, places, fc.nat(50), (flow, choices, crashes, part) => {
        fc.pre(isSure(flow));
        const schedule = { ...undisturbed(choices), crashesAt: new Set(crashes) };
        const whole = new World(planOf(flow), schedule).run();
        const tokens = whole.consumedAiTokens;
        fc.pre(whole.status === 'completed' && tokens > 1);
        const within = (token_budget: number): WorldEnd => {
          const end = new World(planOf({ ...flow, settings: { token_budget } }), schedule).run();
          agree(flow, end);
          return end;
        };
        expect(within(tokens)).toMatchObject({ status: 'completed', consumedAiTokens: tokens });
        const budget = 1 + (part % (tokens - 1));
        const end = within(budget);
        expect(end).toMatchObject({
          ...{ status: 'failed', error: { code: 'token_budget_exceeded', nodeId: expect.any(String) } },
        });
        // No attempt consumes more than 5.
        expect(end.consumedAiTokens).toBeGreaterThan(budget);
        expect(end.consumedAiTokens).toBeLessThanOrEqual(budget + 5);
        passed += 1;
      }),
      { numRuns: runs(200) },
    );
    expect(passed).toBe(runs(200));
  });
});
