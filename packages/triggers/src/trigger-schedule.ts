import { success } from '@millrace/engine';
import { checkedNode } from '@millrace/node-kit/define';
import { SCHEDULE_REQUIRED, scheduleProperties } from './schedule/definition.ts';
import { findScheduleFaults } from './schedule/faults.ts';

export const triggerSchedule = checkedNode({
  type: 'trigger.schedule',
  title: 'Schedule',
  description:
    'Starts an execution on a schedule. Only active workflows run. Each time starts exactly one execution, however many processes are running.',
  icon: 'calendar-clock',
  kind: 'trigger',
  properties: scheduleProperties,
  required: SCHEDULE_REQUIRED,
  findFaults: findScheduleFaults,
  form: {
    main: ['schedule', 'timezone'],
    sections: [
      { title: 'Overlaps and missed runs', fields: ['overlap', 'missed', 'jitter_s'] },
      { title: 'Data for each run', fields: ['input'] },
    ],
  },
  synonyms: ['cron', 'timer', 'every day', 'daily', 'hourly', 'interval', 'recurring', 'periodic', 'clock'],
  examples: [
    {
      title: 'Weekdays at nine, Berlin time',
      config: {
        schedule: { type: 'cron', cron: '0 9 * * 1-5' },
        timezone: 'Europe/Berlin',
        input: { report: 'sales' },
      },
      trigger: {
        scheduled_at: '2026-01-01T08:00:00.000Z',
        timezone: 'Europe/Berlin',
        fire_number: 1,
        missed: false,
        input: { report: 'sales' },
      },
      expect: {
        output: {
          data: {
            scheduled_at: '2026-01-01T08:00:00.000Z',
            timezone: 'Europe/Berlin',
            fire_number: 1,
            missed: false,
            input: { report: 'sales' },
          },
        },
      },
    },
    {
      title: 'Every 15 minutes, one at a time',
      config: { schedule: { type: 'every', every: 15, unit: 'minutes' }, timezone: 'UTC', overlap: 'queue' },
      trigger: {
        scheduled_at: '2026-01-01T00:15:00.000Z',
        timezone: 'UTC',
        fire_number: 2,
        missed: false,
        input: {},
      },
      expect: {
        output: {
          data: {
            scheduled_at: '2026-01-01T00:15:00.000Z',
            timezone: 'UTC',
            fire_number: 2,
            missed: false,
            input: {},
          },
        },
      },
    },
  ],
  run: (_config, context) => success({ data: context.triggerData }),
});
