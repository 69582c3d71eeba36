import { randomBytes } from 'node:crypto';
import type { AiMessage } from '@millrace/engine';

/** What is sent, with a mark in the place of each file. */
export interface MarkedMessages {
  readonly messages: readonly AiMessage[];
  /** A body that was made of these messages, with the files in their places. */
  readonly insert: (body: string) => string;
}

/**
 * Keeps files away from the client library, which would write them as JSON, character by character: 8 MiB would hold the main thread for a
 * tenth of a second. It gets a mark for each instead, and the file is put in its place when the request is sent. A mark is random, so no text
 * can contain it, and valid Base64, as is what it stands for: neither needs quoting in JSON.
 */
export function markFiles(messages: readonly AiMessage[]): MarkedMessages {
  const contents = new Map<string, string>();
  const marked = messages.map((message): AiMessage => {
    if (message.role !== 'user' || message.files === undefined) return message;
    const files = message.files.map((file) => {
      const mark = randomBytes(24).toString('hex');
      contents.set(mark, file.base64);
      return { ...file, base64: mark };
    });
    return { ...message, files };
  });
  return {
    messages: marked,
    insert(body) {
      let rest = body;
      let whole = '';
      // In the order of the messages, which is that of the body.
      for (const [mark, base64] of contents) {
        const at = rest.indexOf(mark);
        if (at === -1) throw new Error('a file is missing in a request to a model');
        whole += rest.slice(0, at) + base64;
        rest = rest.slice(at + mark.length);
      }
      return whole + rest;
    },
  };
}
