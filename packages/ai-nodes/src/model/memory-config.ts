import { Type } from 'typebox';

/** How a node that calls a model remembers a conversation, as the editor shows it. */
export const memoryProperties = {
  memory_key: Type.Unsafe<string | number>({
    type: ['string', 'number'],
    title: 'Conversation',
    description:
      'Names the conversation whose earlier messages the model gets, such as {{trigger.data.session_id}}: whoever shares a name shares a memory. Empty: no memory. Kept for each workflow.',
    default: '',
    'x-placeholder': '{{trigger.data.session_id}}',
  }),
  memory_turns: Type.Integer({
    title: 'Remembered messages',
    description: 'How many of the last messages the model gets, each with its answer.',
    minimum: 1,
    maximum: 50,
    default: 10,
  }),
  memory_tokens: Type.Integer({
    title: 'Tokens for memory',
    description: 'About how many tokens the remembered messages may take. The oldest are left out first.',
    minimum: 100,
    maximum: 200_000,
    default: 8_000,
  }),
  memory_summary: Type.Boolean({
    title: 'Summarise older messages',
    description:
      'Asks the model now and then for a summary of what is no longer remembered word for word. It counts as tokens of the node.',
    default: false,
  }),
  memory_days: Type.Integer({
    title: 'Forget after days',
    description: 'How long after its last message a conversation is forgotten.',
    minimum: 1,
    maximum: 365,
    default: 30,
  }),
};

/** The fields of the section for memory. */
export const MEMORY_SECTION = {
  title: 'Memory',
  fields: ['memory_key', 'memory_turns', 'memory_tokens', 'memory_summary', 'memory_days'],
} as const;
