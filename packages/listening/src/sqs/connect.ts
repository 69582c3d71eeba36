import { setTimeout as sleep } from 'node:timers/promises';
import {
  type HttpRequest,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ListenSourceOf,
  ServiceError,
  stringifyJson,
  tryParseJson,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { contentOf } from '../content.ts';
import type { Batch, ConnectContext, Connection, Received } from '../source.ts';

type Context = ConnectContext<ListenSourceOf<'sqs'>>;

/** The most that the service gives at once. */
const COUNT = 10;
/** The longest that it waits for messages. */
const WAIT_S = 20;
const REQUEST_MS = 30_000;
const CLOSE_MS = 2_000;
/** Before the next request, if the service answers at once that there is nothing. */
const PAUSE_MS = 1_000;
/** Ten messages of 1 MiB, as JSON. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

/** Receives from a queue of Amazon SQS, or of a service with the same interface (JSON protocol), by long polling. */
export async function connectToSqs(context: Context): Promise<Connection> {
  const queue = new Queue(context);
  // Says at once whether the queue can be read.
  await queue.call('GetQueueAttributes', { AttributeNames: ['VisibilityTimeout'] });
  return queue;
}

class Queue implements Connection {
  readonly position = null;
  readonly #context: Context;
  /** What messages of the last batch are deleted by. */
  #handles = new Map<string, string>();

  constructor(context: Context) {
    this.#context = context;
  }

  async next(): Promise<Batch> {
    const startedAt = performance.now();
    const answer = await this.call('ReceiveMessage', {
      MaxNumberOfMessages: COUNT,
      WaitTimeSeconds: WAIT_S,
      MessageSystemAttributeNames: ['SentTimestamp', 'ApproximateReceiveCount', 'MessageGroupId'],
      MessageAttributeNames: ['All'],
    });
    this.#handles = new Map();
    const messages = listOf(answer.Messages).flatMap((each) => this.#received(each));
    // Not every service waits.
    if (messages.length === 0 && performance.now() - startedAt < PAUSE_MS) await sleep(PAUSE_MS);
    return { messages, position: null };
  }

  async acknowledge(ids: readonly string[]): Promise<void> {
    const handles = ids.flatMap((id) => this.#handles.get(id) ?? []);
    if (handles.length === 0) return;
    const Entries = handles.map((ReceiptHandle, at) => ({ Id: String(at), ReceiptHandle }));
    // One that isn't deleted is delivered again, known, and deleted then.
    await this.call('DeleteMessageBatch', { Entries });
    for (const id of ids) this.#handles.delete(id);
  }

  /** What was received and not started is given back, so that nobody has to wait for the visibility timeout. */
  async close(): Promise<void> {
    const handles = [...this.#handles.values()];
    if (handles.length === 0) return;
    const Entries = handles.map((ReceiptHandle, at) => ({
      ...{ Id: String(at), ReceiptHandle, VisibilityTimeout: 0 },
    }));
    await this.call('ChangeMessageVisibilityBatch', { Entries }, AbortSignal.timeout(CLOSE_MS));
  }

  /** @throws ServiceError sqs_*, HttpClientError */
  async call(
    action: string,
    input: JsonObject,
    signal: AbortSignal = this.#context.signal,
  ): Promise<JsonObject> {
    const { source, credentials } = this.#context;
    const request: HttpRequest = {
      method: 'POST',
      url: new URL('/', source.queueUrl).href,
      headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}` },
      body: stringifyJson({ QueueUrl: source.queueUrl, ...input }),
      ...{ timeoutMs: REQUEST_MS, maxResponseBytes: MAX_RESPONSE_BYTES, maxRedirects: 0 },
    };
    const signed = await credentials.authenticate(source.credentialId, request);
    const { status, body } = await signed.send(signal);
    const answer = tryParseJson(Buffer.from(body).toString('utf8'));
    if (status === 200 && answer !== undefined && isJsonObject(answer)) return answer;
    throw refusal(status, answer, action);
  }

  #received(value: JsonValue): Received[] {
    if (!isJsonObject(value)) return [];
    const {
      MessageId: id,
      ReceiptHandle: handle,
      Body: body,
      Attributes: system,
      MessageAttributes: own,
    } = value;
    if (typeof id !== 'string' || typeof handle !== 'string') return [];
    this.#handles.set(id, handle);
    const attributes = isJsonObject(system) ? system : {};
    const data = {
      id,
      ...contentOf(Buffer.from(typeof body === 'string' ? body : '')),
      attributes: isJsonObject(own) ? Object.fromEntries(Object.entries(own).map(attributeOf)) : {},
      sent_at: timeOf(attributes.SentTimestamp),
      group_id: attributes.MessageGroupId ?? null,
      receive_count: Number(attributes.ApproximateReceiveCount ?? 1),
    };
    return [{ id, data }];
  }
}

function attributeOf([name, value]: readonly [string, JsonValue]): readonly [string, JsonValue] {
  const { StringValue: text, BinaryValue: binary } = isJsonObject(value) ? value : {};
  return [name, text ?? binary ?? null];
}

function refusal(status: number, answer: JsonValue | undefined, action: string): ServiceError {
  const {
    __type: type,
    message: said,
    Message: saidToo,
  } = answer !== undefined && isJsonObject(answer) ? answer : {};
  const code = typeof type === 'string' ? (type.split('#').at(-1) ?? '') : '';
  const text = [said, saidToo].find((each) => typeof each === 'string');
  const reason = [code, text]
    .filter((each) => typeof each === 'string' && each !== '')
    .join(': ')
    .slice(0, 300);
  const explanation = message('ports.sqs_refused', { action, status, reason });
  const isPassing = status === 429 || status >= 500 || /throttl/i.test(code);
  return new ServiceError('sqs_request_failed', explanation, { retryable: isPassing });
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return value !== undefined && isJsonArray(value) ? value : [];
}

function timeOf(value: JsonValue | undefined): string | null {
  const at = new Date(Number(value));
  return value === undefined || Number.isNaN(at.getTime()) ? null : at.toISOString();
}
