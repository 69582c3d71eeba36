import { Type } from 'typebox';
import { choice } from './choice.ts';

/** Items of one poll; a source that lists more has to be asked for less. */
export const MAX_LISTED = 10_000;

/** The settings that every polling trigger has. */
export const pollingProperties = {
  interval_s: Type.Integer({
    title: 'Interval',
    description: 'Seconds from the end of a poll to the next one.',
    minimum: 30,
    maximum: 86_400,
    default: 300,
  }),
  existing: choice(
    'Items that are already there',
    'What happens to everything the first poll finds, after the workflow is activated or where it polls has changed.',
    { skip: 'Skip them', start: 'Start an execution for each' },
    { default: 'skip' },
  ),
};
