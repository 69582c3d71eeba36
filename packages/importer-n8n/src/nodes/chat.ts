import type { JsonValue } from '@millrace/engine';
import type { Shape } from '@millrace/importer-kit/refs';
import { type Message, message } from '@millrace/messages';
import { type N8nNode, parameterOf, textOf } from '../read.ts';

/** What n8n calls the members of a message. */
const CHAT_SHAPE: Shape = { chatInput: ['message'], sessionId: ['session_id'], action: null };

/** A hosted chat: its texts, and where the message and the conversation are. */
export function chatOf(node: N8nNode): {
  readonly config: { [name: string]: JsonValue };
  readonly shape: Shape;
  readonly path: string;
  readonly answer: 'chat_page';
  readonly notes: readonly Message[];
} {
  const { kind, parameters } = node;
  const plain = (path: string): string => {
    const text = textOf(parameterOf(node, path)) ?? '';
    return text.startsWith('=') ? '' : text.trim();
  };
  const listed = plain('options.allowedOrigins')
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean);
  const origins = listed.filter((each) => URL.parse(each)?.origin === each && each.startsWith('https://'));
  const texts = {
    greeting: plain('initialMessages').slice(0, 2_000),
    placeholder: plain('options.inputPlaceholder').slice(0, 200),
  };
  const isPublic = kind === 'chatTrigger' && parameters.public === true;
  const isExact =
    isPublic &&
    origins.length === listed.length &&
    plain('authentication').replace('none', '') === '' &&
    parameterOf(node, 'options.allowFileUploads') !== true;
  return {
    config: {
      title: plain('options.title').slice(0, 200) || 'Chat',
      ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== '')),
      ...(origins.length === 0 ? {} : { allowed_origins: origins.slice(0, 20) }),
    },
    shape: CHAT_SHAPE,
    path: 'trigger.data',
    answer: 'chat_page',
    notes: isExact ? [] : [message('import.chat_page')],
  };
}
