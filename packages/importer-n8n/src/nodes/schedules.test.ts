import type { JsonObject } from '@millrace/engine';
import { describe, expect, it } from 'vitest';
import { configOf, n8n, outcomeOf, read } from '../testing.ts';

const imported = (type: string, parameters: JsonObject) =>
  read(n8n({ Here: { type, version: 1.2, parameters }, Next: { type: 'noOp' } }, [['Here', 'Next']]));
const scheduleOf = (type: string, parameters: JsonObject) =>
  configOf(imported(type, parameters), 'Here')?.schedule;
const cron = (text: string) => ({ type: 'cron', cron: text });
const every = (count: number, unit: string) => ({ type: 'every', every: count, unit });

describe('when a schedule starts', () => {
  it.each<readonly [JsonObject, JsonObject]>([
    [{}, cron('0 0 * * *')],
    [{ field: 'seconds', secondsInterval: 10 }, every(10, 'seconds')],
    [{ field: 'minutes' }, every(5, 'minutes')],
    [{ field: 'hours', triggerAtMinute: 7 }, cron('7 * * * *')],
    [{ field: 'hours', hoursInterval: 6 }, cron('0 */6 * * *')],
    [{ field: 'days', triggerAtHour: 9, triggerAtMinute: 30 }, cron('30 9 * * *')],
    [{ field: 'days', daysInterval: 3, triggerAtHour: 9 }, cron('0 9 */3 * *')],
    [{ field: 'weeks', triggerAtHour: 8 }, cron('0 8 * * 0')],
    [{ field: 'weeks', triggerAtDay: [1, 3], triggerAtHour: 8 }, cron('0 8 * * 1,3')],
    [{ field: 'months', triggerAtDayOfMonth: 15, monthsInterval: 3 }, cron('0 0 15 */3 *')],
    [{ field: 'cronExpression', expression: '=0 9 * * 1-5' }, cron('0 9 * * 1-5')],
  ])('by the rule %o', (rule, schedule) => {
    expect(scheduleOf('scheduleTrigger', { rule: { interval: [rule] } })).toEqual(schedule);
  });

  it.each<readonly [JsonObject, JsonObject]>([
    [{}, cron('0 14 * * *')],
    [{ mode: 'everyMinute' }, every(1, 'minutes')],
    [{ mode: 'everyHour', minute: 5 }, cron('5 * * * *')],
    [{ mode: 'everyX', value: 3, unit: 'minutes' }, every(3, 'minutes')],
    [{ mode: 'everyWeek', weekday: '3', hour: 9 }, cron('0 9 * * 3')],
    [{ mode: 'everyMonth', dayOfMonth: 2, hour: 9, minute: 15 }, cron('15 9 2 * *')],
    [{ mode: 'custom', cronExpression: ' 0 4 * * * ' }, cron('0 4 * * *')],
  ])('by the time %o of the older node', (time, schedule) => {
    expect(scheduleOf('cron', { triggerTimes: { item: [time] } })).toEqual(schedule);
  });

  it.each<readonly [JsonObject, JsonObject]>([
    [{}, every(1, 'seconds')],
    [{ interval: 2, unit: 'hours' }, every(2, 'hours')],
    [{ interval: -1, unit: 'weeks' }, every(1, 'hours')],
  ])('by the interval %o', (parameters, schedule) => {
    expect(scheduleOf('interval', parameters)).toEqual(schedule);
  });

  it.each<readonly [JsonObject, string]>([
    [{ field: 'weeks', weeksInterval: 2 }, 'import.every_week'],
    [{ field: 'days', daysInterval: 3 }, 'import.days_by_month'],
  ])('says what differs of %o', (rule, key) => {
    const result = imported('scheduleTrigger', { rule: { interval: [rule, rule] } });
    expect(outcomeOf(result, 'Here')).toMatchObject({ what: [{ key }] });
  });

  it('is the same for each week, and for each day', () => {
    const rules = [{ field: 'weeks', weeksInterval: 1 }, { field: 'days' }];
    expect(outcomeOf(imported('scheduleTrigger', { rule: { interval: rules } }), 'Here')?.kind).toBe(
      'mapped',
    );
  });
});

it('a trigger that offers tools by MCP says what to do instead, and its tools are dropped with it', () => {
  const LANGCHAIN = '@n8n/n8n-nodes-langchain';
  const result = read(
    n8n({ Offer: { type: `${LANGCHAIN}.mcpTrigger` }, 'Look up': { type: 'httpRequestTool' } }, [
      ['Look up', 'Offer', 'ai_tool'],
    ]),
  );
  expect(outcomeOf(result, 'Offer')).toMatchObject({
    kind: 'dropped',
    reason: { key: 'import.mcp_trigger' },
  });
  expect(outcomeOf(result, 'Look up')).toMatchObject({ reason: { key: 'import.part_of_dropped' } });
});

it('what follows an output that a node does not have is reported', () => {
  const said = (onError: string) => {
    const file = n8n(
      {
        Start: { type: 'manualTrigger' },
        Ask: { type: 'httpRequest', more: { onError } },
        A: { type: 'noOp' },
      },
      [['Start', 'Ask']],
    );
    const main = [[], [{ node: 'A', type: 'main', index: 0 }]];
    return JSON.stringify(
      outcomeOf(
        read({ ...file, connections: { ...(file.connections as JsonObject), Ask: { main } } }),
        'Ask',
      ),
    );
  };
  expect(said('stopWorkflow')).toContain('import.no_such_output');
  expect(said('continueErrorOutput')).not.toContain('import.no_such_output');
});
