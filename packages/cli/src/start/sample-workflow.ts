import type { JsonObject } from '@millrace/engine';

/** A new installation's first workflow: it branches and joins, and makes no outgoing calls. */
export const SAMPLE_WORKFLOW = {
  name: 'Greeting',
  description: 'A first example: greets by name if the input has one, and everyone otherwise.',
  triggerType: 'trigger.manual',
  flowData: {
    nodes: [
      { id: 'start', type: 'trigger.manual', position: { x: 0, y: 120 }, data: { label: 'Start' } },
      {
        id: 'has_name',
        type: 'core.if',
        position: { x: 220, y: 120 },
        data: {
          label: 'Is there a name?',
          config: { conditions: [{ left: '{{trigger.data.name}}', operator: 'is_not_empty' }] },
        },
      },
      {
        id: 'greet_one',
        type: 'core.set',
        position: { x: 460, y: 20 },
        data: { label: 'Greet by name', config: { values: { greeting: 'Hello, {{trigger.data.name}}!' } } },
      },
      {
        id: 'greet_all',
        type: 'core.set',
        position: { x: 460, y: 220 },
        data: { label: 'Greet everyone', config: { values: { greeting: 'Hello, everyone!' } } },
      },
      {
        id: 'answer',
        type: 'core.merge',
        position: { x: 700, y: 120 },
        data: { label: 'Answer', config: { mode: 'first' } },
      },
    ],
    edges: [
      { id: 'e1', source: 'start', target: 'has_name' },
      { id: 'e2', source: 'has_name', sourceHandle: 'true', target: 'greet_one' },
      { id: 'e3', source: 'has_name', sourceHandle: 'false', target: 'greet_all' },
      { id: 'e4', source: 'greet_one', target: 'answer' },
      { id: 'e5', source: 'greet_all', target: 'answer' },
    ],
    settings: {
      // A manual start shows a form for it.
      input_schema: {
        type: 'object',
        properties: {
          name: { type: 'string', title: 'Name', description: 'Whom to greet; everyone if it is empty.' },
        },
      },
    },
  } satisfies JsonObject,
};
