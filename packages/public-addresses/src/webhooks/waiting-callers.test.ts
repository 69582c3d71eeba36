import { describe, expect, test } from 'vitest';
import { WaitingCallers } from './waiting-callers.ts';

describe('waiting callers', () => {
  test('one organisation gets its part, all together no more than the limit, and room comes back', () => {
    const callers = new WaitingCallers({ waitingCallers: 3, waitingCallersPerOrganisation: 2 });
    const [leave] = [callers.enter(1), callers.enter(1)];
    expect(() => callers.enter(1)).toThrow(
      expect.objectContaining({ code: 'too_many_callers', status: 429 }),
    );
    callers.enter(2);
    expect(() => callers.enter(2)).toThrow(expect.objectContaining({ code: 'overloaded', status: 503 }));
    leave?.();
    callers.enter(2);
    expect(() => callers.enter(1)).toThrow(expect.objectContaining({ code: 'overloaded' }));
  });

  test('0 is no limit', () => {
    const callers = new WaitingCallers({ waitingCallers: 0, waitingCallersPerOrganisation: 0 });
    for (let count = 0; count < 10_000; count += 1) callers.enter(1);
  });
});
