import { success } from '@millrace/engine';
import { checkedNode } from '@millrace/node-kit/define';
import { chatProperties, findChatFaults } from './chat/options.ts';

export const triggerChat = checkedNode({
  type: 'trigger.chat',
  title: 'Chat',
  description:
    'Starts an execution for each message on a chat page that this service hosts at a public address, also as part of other websites. trigger.data has the message and session_id, which stays the same for a conversation.',
  icon: 'message-square',
  kind: 'trigger',
  // Its address is that of the workflow.
  addressOf: () => '',
  properties: chatProperties,
  required: ['title'],
  deferred: { answer: 'end', answer_files: 'end' },
  findFaults: findChatFaults,
  form: {
    main: ['title', 'greeting', 'suggestions'],
    sections: [
      { title: 'Answer', fields: ['answer', 'answer_files', 'live'] },
      { title: 'Files', fields: ['files_per_message', 'files_accept', 'files_mb'] },
      { title: 'Page', fields: ['placeholder', 'language', 'allowed_origins'] },
      {
        title: 'Limits',
        fields: ['message_chars', 'messages_per_minute', 'messages_per_session', 'sessions_per_hour'],
      },
    ],
  },
  synonyms: [
    'chat',
    'chatbot',
    'bot',
    'assistant',
    'conversation',
    'message',
    'widget',
    'support',
    'live chat',
  ],
  examples: [
    {
      title: 'A help desk',
      config: {
        title: 'Ask the mill',
        greeting: 'Hello! Ask me about orders and deliveries.',
        suggestions: ['Where is my order?', 'Do you deliver on Sundays?'],
      },
      trigger: {
        session_id: '7c1f0e5a9b3d4c2e8f6a1b0d9e8c7f6a',
        message: 'Do you deliver on Sundays?',
        message_id: 'b2c9',
        number: 1,
      },
      expect: {
        output: {
          data: {
            session_id: '7c1f0e5a9b3d4c2e8f6a1b0d9e8c7f6a',
            message: 'Do you deliver on Sundays?',
            message_id: 'b2c9',
            number: 1,
          },
        },
      },
    },
  ],
  run: (_config, context) => success({ data: context.triggerData }),
});
