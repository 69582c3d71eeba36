import type { AiProvider } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { eventsOfWhole, readableEvent } from './answer-events.ts';
import { AnswerProblem } from './errors.ts';

/**
 * Converts a model's response to what the client library reads: an event stream with known events only. Servers that speak a
 * provider's format add events of their own, respond at once instead of streaming, or aren't model servers at all.
 * @throws AnswerProblem `ai_invalid_response`, also from the body's stream
 */
export async function readableAnswer(answer: Response, provider: AiProvider): Promise<Response> {
  if (!answer.ok || answer.body === null) return answer.ok ? refuse(message('ports.empty_response')) : answer;
  const { first, body } = await peek(answer.body);
  const headers = { ...Object.fromEntries(answer.headers), 'content-type': 'text/event-stream' };
  switch (first) {
    case '':
      return refuse(message('ports.empty_response'));
    case '<':
      return refuse(message('ports.web_page'));
    case '{':
    case '[': {
      const events = eventsOfWhole(await new Response(body).text(), provider);
      return events === null
        ? refuse(message('ports.other_json'))
        : new Response(events.join(''), { status: answer.status, headers });
    }
    default:
      return new Response(onlyKnown(body, provider, isEventStream(answer)), {
        status: answer.status,
        headers,
      });
  }
}

function isEventStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true;
}

function refuse(problem: Message): never {
  throw new AnswerProblem('ai_invalid_response', problem, true);
}

/** The first non-blank character of a response, and the whole body. */
async function peek(
  body: ReadableStream<Uint8Array>,
): Promise<{ first: string; body: ReadableStream<Uint8Array> }> {
  const reader = body.getReader();
  const taken: Uint8Array[] = [];
  let first = '';
  while (first === '') {
    const { done, value } = await reader.read();
    if (done) break;
    taken.push(value);
    // Only ASCII is looked for; a byte order mark is dropped.
    first = Buffer.from(value).toString('latin1').replace(/^ï»¿/, '').trimStart().charAt(0);
  }
  const rest = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = taken.shift();
      if (next !== undefined) return controller.enqueue(next);
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { first, body: rest };
}

/**
 * Keeps only the events that the client library knows, in a form it reads.
 * @param isDeclared whether the server declares an event stream: one without events was cut off, anything undeclared is
 * something else
 */
function onlyKnown(
  body: ReadableStream<Uint8Array>,
  provider: AiProvider,
  isDeclared: boolean,
): ReadableStream<Uint8Array> {
  const readable = readableEvent(provider);
  let isEmpty = true;
  return body
    .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream())
    .pipeThrough(
      new TransformStream({
        transform({ event, data }, controller) {
          isEmpty = false;
          const known = readable(data, event);
          if (known !== null) controller.enqueue(`data: ${known.replaceAll('\n', '\ndata: ')}\n\n`);
        },
        flush: () => (isEmpty && !isDeclared ? refuse(message('ports.other_response')) : undefined),
      }),
    )
    .pipeThrough(new TextEncoderStream() as TransformStream<string, Uint8Array>);
}
