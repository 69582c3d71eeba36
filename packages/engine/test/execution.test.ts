import { describe, expect, it } from 'vitest';
import { EXECUTION_STATUSES, isFinalStatus } from '../src/index.ts';
import { EXECUTION_EVENTS, transition } from './support/transitions.ts';

describe('status of an execution', () => {
  it('E21: every pair of status and event is defined, and final statuses never change', () => {
    for (const status of EXECUTION_STATUSES) {
      for (const event of EXECUTION_EVENTS) {
        const next = transition(status, event);
        expect(next === null || EXECUTION_STATUSES.includes(next)).toBe(true);
        if (isFinalStatus(status)) expect(next).toBeNull();
      }
    }
  });

  it('E21: every status that is not final can be cancelled and claimed', () => {
    for (const status of EXECUTION_STATUSES.filter((one) => !isFinalStatus(one))) {
      expect(transition(status, 'cancel')).toBe('cancelled');
      expect(transition(status, 'claim')).toBe('running');
      expect(transition(status, 'fail')).toBe('failed');
    }
  });

  it('E21: only a running execution is parked, handed back or completed', () => {
    for (const status of EXECUTION_STATUSES.filter((one) => one !== 'running')) {
      expect(transition(status, 'park')).toBeNull();
      expect(transition(status, 'hand_back')).toBeNull();
      expect(transition(status, 'complete')).toBeNull();
    }
    expect(transition('running', 'park')).toBe('waiting_async');
    expect(transition('running', 'hand_back')).toBe('queued');
    expect(transition('running', 'complete')).toBe('completed');
  });
});
