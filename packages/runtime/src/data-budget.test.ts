import { describe, expect, it } from 'vitest';
import { DataBudget, type DataHolding, type ResponseHolding } from './data-budget.ts';

const ACME = 1;
const OTHERS = 2;
const THIRD = 3;
/** With ten slots, 25 bytes of each execution don't count. */
const SMALL = 25;
const TOTAL = 1_000;
const never = new AbortController().signal;

function budgetOf(organisationPercent = 100): DataBudget {
  return new DataBudget({ totalBytes: TOTAL, slots: 10, organisationPercent });
}

/** An execution that holds this much of the budget. */
function holds(budget: DataBudget, organisationId: number, bytes: number): DataHolding {
  const holding = budget.begin(organisationId);
  holding.set(SMALL + bytes);
  return holding;
}

/** Order in which requests for room were granted. */
class Reads {
  readonly granted: string[] = [];
  readonly failed: unknown[] = [];

  take(name: string, holding: DataHolding, bytes: number, signal = never): ResponseHolding {
    const response = holding.beginResponse();
    const waiting = response.take(bytes, signal);
    if (waiting === undefined) this.granted.push(name);
    else {
      waiting.then(
        () => this.granted.push(name),
        (reason: unknown) => this.failed.push(reason),
      );
    }
    return response;
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a response', () => {
  it('waits while there is no room, and goes on as soon as there is', async () => {
    const budget = budgetOf();
    const holder = holds(budget, ACME, 800);
    const reads = new Reads();
    reads.take('second', budget.begin(ACME), SMALL + 300);
    await settled();
    expect(reads.granted).toEqual([]);
    expect(budget.state).toEqual({ heldBytes: SMALL + 800, budgetBytes: TOTAL, waiting: 1 });
    holder.end();
    await settled();
    expect(reads.granted).toEqual(['second']);
    expect(budget.state).toEqual({ heldBytes: SMALL + 300, budgetBytes: TOTAL, waiting: 0 });
  });

  it('never waits if its execution holds little', () => {
    const budget = budgetOf();
    holds(budget, ACME, 5_000);
    const reads = new Reads();
    reads.take('little', budget.begin(OTHERS), SMALL);
    expect(reads.granted).toEqual(['little']);
  });

  it('no longer waits when its call has ended, and lets the next one go on', async () => {
    const budget = budgetOf();
    holds(budget, ACME, 500);
    const controller = new AbortController();
    const reads = new Reads();
    const large = reads.take('large', budget.begin(ACME), 900, controller.signal);
    reads.take('next', budget.begin(ACME), 400);
    await settled();
    expect(reads.granted).toEqual([]);
    controller.abort('too late');
    large.release();
    await settled();
    expect([reads.granted, reads.failed]).toEqual([['next'], ['too late']]);
  });

  it('keeps its room until it is released', async () => {
    const budget = budgetOf();
    const holding = budget.begin(ACME);
    const reads = new Reads();
    const response = reads.take('first', holding, SMALL + 800);
    response.arrived();
    reads.take('second', holds(budget, ACME, 1), 300);
    await settled();
    expect(reads.granted).toEqual(['first']);
    holding.set(50);
    response.release();
    response.release();
    await settled();
    expect(reads.granted).toEqual(['first', 'second']);
    expect(budget.state.heldBytes).toBe(50 + SMALL + 1 + 300);
  });
});

describe('without room', () => {
  it('organisations take turns, and in each the execution that began first goes first', async () => {
    const budget = budgetOf();
    const holder = holds(budget, ACME, TOTAL);
    const [a, b, c] = [budget.begin(ACME), budget.begin(ACME), budget.begin(OTHERS)];
    const reads = new Reads();
    const taken = [reads.take('b', b, 900), reads.take('a', a, 900), reads.take('c', c, 900)];
    holder.end();
    for (const expected of [['a'], ['a', 'c'], ['a', 'c', 'b']]) {
      await settled();
      expect(reads.granted).toEqual(expected);
      const [last] = expected.slice(-1);
      ({ a, b, c })[last as 'a']?.end();
    }
    expect(taken).toHaveLength(3);
    expect(budget.state.heldBytes).toBe(0);
  });

  it('one that needs a lot is not overtaken forever', async () => {
    const budget = budgetOf();
    const [first, second] = [holds(budget, OTHERS, 400), holds(budget, THIRD, 400)];
    const reads = new Reads();
    reads.take('large', budget.begin(ACME), SMALL + 900);
    reads.take('small', budget.begin(OTHERS), SMALL + 100);
    await settled();
    expect(reads.granted).toEqual([]);
    first.end();
    await settled();
    expect(reads.granted).toEqual([]);
    second.end();
    await settled();
    expect(reads.granted).toEqual(['large', 'small']);
  });

  it('one organisation leaves the rest of the budget to the others', async () => {
    const budget = budgetOf(75);
    holds(budget, ACME, 700);
    const reads = new Reads();
    reads.take('of Acme', budget.begin(ACME), SMALL + 100);
    reads.take("another's", budget.begin(OTHERS), SMALL + 200);
    await settled();
    expect(reads.granted).toEqual(["another's"]);
  });

  it('the oldest goes on when everything that holds something waits', async () => {
    const budget = budgetOf();
    const reads = new Reads();
    const [older, newer] = [budget.begin(ACME), budget.begin(ACME)];
    const parts = [reads.take('newer', newer, SMALL + 500), reads.take('older', older, SMALL + 500)];
    const more = [parts[0]?.take(200, never), parts[1]?.take(200, never)];
    void more[0]?.then(() => reads.granted.push('more of the newer'));
    void more[1]?.then(() => reads.granted.push('more of the older'));
    await settled();
    expect(reads.granted).toEqual(['newer', 'older', 'more of the older']);
    older.end();
    await settled();
    expect(reads.granted.at(-1)).toBe('more of the newer');
  });

  it('the oldest of an organisation goes on when everything that holds something of it waits', async () => {
    const budget = budgetOf(50);
    holds(budget, OTHERS, 100);
    const reads = new Reads();
    const holding = holds(budget, ACME, 400);
    reads.take('large', holding, 450);
    await settled();
    expect(reads.granted).toEqual(['large']);
  });

  it('a parent that waits for its child keeps nobody from going on', async () => {
    const budget = budgetOf();
    const parent = holds(budget, ACME, TOTAL);
    const reads = new Reads();
    reads.take('child', budget.begin(ACME), SMALL + 500);
    await settled();
    expect(reads.granted).toEqual([]);
    const end = parent.pause();
    await settled();
    expect(reads.granted).toEqual(['child']);
    end();
    end();
    expect(budget.claimRoom.isIdle).toBe(false);
  });
});

describe('a claim', () => {
  it('has room for what is free, for anything if nothing is held, and for none while responses wait', () => {
    const budget = budgetOf(75);
    expect(budget.claimRoom).toEqual({
      ...{ smallBytes: SMALL, freeBytes: TOTAL, organisationBytes: 750 },
      ...{ held: new Map(), isIdle: true },
    });
    expect(budget.hasRoom(ACME, 1_000_000)).toBe(true);
    const holder = holds(budget, ACME, 600);
    expect(budget.claimRoom).toMatchObject({ freeBytes: 400, held: new Map([[ACME, 600]]), isIdle: false });
    const rooms = [budget.hasRoom(ACME, SMALL), budget.hasRoom(ACME, 151), budget.hasRoom(OTHERS, 151)];
    expect(rooms).toEqual([true, false, true]);
    new Reads().take('large', budget.begin(OTHERS), TOTAL);
    expect(budget.claimRoom).toMatchObject({ freeBytes: 0, isIdle: false });
    holder.end();
    expect(budget.claimRoom).toMatchObject({ freeBytes: SMALL, isIdle: false });
  });

  it('may be repeated whenever something has made room', () => {
    const budget = budgetOf();
    let freed = 0;
    budget.onFreed(() => {
      freed += 1;
    });
    budget.begin(ACME).end();
    const holder = holds(budget, ACME, 10);
    expect(freed).toBe(0);
    holder.end();
    holder.end();
    expect(freed).toBe(1);
  });
});
