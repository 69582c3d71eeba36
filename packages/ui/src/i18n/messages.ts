import type { MessageKey } from '@millrace/messages';
import { addJapanese } from './japanese.ts';

/** The first word of a message's key. */
type Part = MessageKey extends infer Key ? (Key extends `${infer Name}.${string}` ? Name : never) : never;

/**
 * Japanese texts of the service's messages. They arrive in English, and are as large as a page altogether: each part is loaded with the first
 * answer that has a message of it.
 */
const LOADERS: { readonly [Name in Part]: () => Promise<{ readonly default: object }> } = {
  alert: () => import('@millrace/messages/ja/alert.json'),
  api: () => import('@millrace/messages/ja/api.json'),
  approval: () => import('@millrace/messages/ja/approval.json'),
  chat: () => import('@millrace/messages/ja/chat.json'),
  connectors: () => import('@millrace/messages/ja/connectors.json'),
  doctor: () => import('@millrace/messages/ja/doctor.json'),
  egress: () => import('@millrace/messages/ja/egress.json'),
  flow: () => import('@millrace/messages/ja/flow.json'),
  form: () => import('@millrace/messages/ja/form.json'),
  identity: () => import('@millrace/messages/ja/identity.json'),
  import: () => import('@millrace/messages/ja/import.json'),
  nodes: () => import('@millrace/messages/ja/nodes.json'),
  ports: () => import('@millrace/messages/ja/ports.json'),
  run: () => import('@millrace/messages/ja/run.json'),
  secrets: () => import('@millrace/messages/ja/secrets.json'),
  service: () => import('@millrace/messages/ja/service.json'),
};

/** Parts that were asked for: theirs resolve once they are there, or as soon as nobody needs them in Japanese. */
const asked = new Map<Part, Promise<void>>();

/** Loads the Japanese of messages for Japanese readers; for others when they choose the language. */
export async function loadMessages(parts: Iterable<Part>): Promise<void> {
  await Promise.all(
    [...parts].map((part) => {
      const begun = asked.get(part) ?? addJapanese(async () => ({ [part]: (await LOADERS[part]()).default }));
      asked.set(part, begun);
      return begun;
    }),
  );
}

const KEY = /"key":"([a-z]+)\.[a-z]/g;

/** {@link loadMessages} for all messages in an answer of the service, so that none is shown in English first. */
export function loadMessagesIn(answer: string): Promise<void> {
  const named = new Set(Array.from(answer.matchAll(KEY), ([, part = '']) => part));
  return loadMessages([...named].filter(isPart));
}

function isPart(name: string): name is Part {
  return Object.hasOwn(LOADERS, name);
}
