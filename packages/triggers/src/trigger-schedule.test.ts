import { findProblems, type JsonObject, success } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { runNode } from '@millrace/node-kit/testing';
import { registry } from '@millrace/nodes';
import { describe, expect, it } from 'vitest';
import { triggerSchedule } from './trigger-schedule.ts';

const CRON = { schedule: { type: 'cron', cron: '0 9 * * *' }, timezone: 'Europe/Berlin' };

function problemsOf(config: JsonObject) {
  const nodes = [{ id: 'start', type: 'trigger.schedule', data: { config } }];
  return findProblems({ nodes, edges: [] }, registry).map(({ pointer, message }) => ({
    at: pointer.replace('/flow_data/nodes/0/data/config', ''),
    message,
  }));
}

describe('trigger.schedule', () => {
  it('passes on the data it was started with', async () => {
    const trigger = { scheduled_at: '2026-01-01T08:00:00.000Z', timezone: 'UTC', input: { a: 1 } };
    const { result } = await runNode(triggerSchedule, { config: CRON, trigger });
    expect(result).toEqual(success({ data: trigger }));
  });

  it.each([
    [{}, '/schedule'],
    [{ schedule: CRON.schedule }, '/timezone'],
    [{ ...CRON, schedule: { type: 'every', every: 0, unit: 'minutes' } }, '/schedule'],
    [{ ...CRON, overlap: 'sometimes' }, '/overlap'],
    [{ ...CRON, input: [] }, '/input'],
  ])("%j doesn't match", (config, at) => {
    expect(problemsOf(config).map((problem) => problem.at)).toContainEqual(expect.stringContaining(at));
  });

  it.each([
    ['Europe/Atlantis', /not a time zone: "Europe\/Atlantis".*IANA/],
    ['+01:00', /not a time zone/],
  ])('the zone %s is a problem that says what to write', (timezone, message) => {
    expect(problemsOf({ ...CRON, timezone })).toEqual([{ at: '/timezone', message: saying(message) }]);
  });

  it.each([
    ['0 25 * * *', /Invalid value for hour: 25/],
    ['* * * * * * *', /: it has 7 fields; write five/],
    ['', /: it has 0 fields; write five/],
    ['@reboot', /: @reboot is unknown; use one of @yearly, .*@hourly$/],
    ['0 24/2 * * *', /: Invalid value for hour: 24$/],
    ['0 25-3 * * *', /: Invalid value for hour: 25$/],
    ['0 22-25 * * *', /: Invalid value for hour: 25$/],
    ['0/0 * * * *', /: Syntax error, illegal stepping: 0$/],
    ['0 9 28-3/2 * *', /: 28-3\/2 goes past the end of the month/],
    ['? 9 * * *', /"\?" has no fixed meaning/],
    ['0 0 30 2 *', /no day that ever comes/],
  ])('the expression %s is a problem that says why', (expression, message) => {
    const config = { ...CRON, schedule: { type: 'cron', cron: expression } };
    expect(problemsOf(config)).toEqual([{ at: '/schedule/cron', message: saying(message) }]);
  });

  it('jitter must be less than the time between two fires', () => {
    const halfPast = { ...CRON, schedule: { type: 'cron', cron: '0,20 9 * * 1' } };
    expect(problemsOf({ ...halfPast, jitter_s: 1199 })).toEqual([]);
    expect(problemsOf({ ...halfPast, jitter_s: 1200 })).toEqual([
      { at: '/jitter_s', message: saying('two runs, 1200 seconds') },
    ]);
    const often = { ...CRON, schedule: { type: 'every', every: 10, unit: 'seconds' } };
    expect(problemsOf({ ...often, jitter_s: 10 })).toHaveLength(1);
  });

  it('a schedule that was examined before is told from others, and from itself with another jitter', () => {
    // Their intervals are those of the hours in which clocks change: 23 and 24 hours.
    const zones = ['Europe/Berlin', 'UTC', 'Europe/Berlin', 'UTC'];
    const jitter = 23 * 3_600;
    const found = zones.map((timezone) => problemsOf({ ...CRON, timezone, jitter_s: jitter }).length);
    expect(found).toEqual([1, 0, 1, 0]);
    expect(problemsOf({ ...CRON, jitter_s: jitter - 1 })).toEqual([]);
    const never = { ...CRON, schedule: { type: 'cron', cron: '0 0 31 4 *' } };
    expect([1, 2].map(() => problemsOf(never).length)).toEqual([1, 1]);
  });

  it('contains no templates, at any depth', () => {
    expect(problemsOf({ ...CRON, input: { list: ['{{trigger.data}}'] } })).toEqual([
      { at: '/input/list/0', message: saying('cannot contain a template') },
    ]);
  });
});
