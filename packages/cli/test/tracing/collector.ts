import { buffer } from 'node:stream/consumers';
import { startHttp } from '@millrace/testing/test-server';

/** A span as a collector receives it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first of its trace. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: { readonly [name: string]: string | number | boolean };
  /** 2: error. */
  readonly status: number;
  /** The process that sent it. */
  readonly resource: { readonly [name: string]: string | number | boolean };
}

export interface Collector {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  /** Everything that was received, as text. */
  readonly bodies: string[];
  readonly types: string[];
  readonly headers: { readonly [name: string]: unknown }[];
}

/** A collector of traces that ends with the test. It decodes both forms of OTLP over HTTP. */
export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const types: string[] = [];
  const headers: { readonly [name: string]: unknown }[] = [];
  const server = await startHttp((request, response) => {
    void buffer(request).then((body) => {
      const type = String(request.headers['content-type']);
      types.push(type);
      headers.push(request.headers);
      bodies.push(body.toString('latin1'));
      spans.push(...(type.includes('json') ? fromJson(body.toString()) : fromProtobuf(body)));
      response.writeHead(200, { 'content-type': type }).end(type.includes('json') ? '{}' : '');
    });
  });
  return { url: server.url, spans, bodies, types, headers };
}

interface JsonAttribute {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly intValue?: number | string;
    readonly boolValue?: boolean;
  };
}

interface JsonSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly JsonAttribute[];
  readonly status?: { readonly code?: number };
}

function fromJson(text: string): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(text) as {
    readonly resourceSpans: readonly {
      readonly resource: { readonly attributes: readonly JsonAttribute[] };
      readonly scopeSpans: readonly { readonly spans: readonly JsonSpan[] }[];
    }[];
  };
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        name: span.name,
        kind: span.kind,
        startNs: BigInt(span.startTimeUnixNano),
        endNs: BigInt(span.endTimeUnixNano),
        attributes: fromAttributes(span.attributes),
        status: span.status?.code ?? 0,
        resource: fromAttributes(resource.attributes),
      })),
    ),
  );
}

function fromAttributes(attributes: readonly JsonAttribute[]): ReceivedSpan['attributes'] {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? Number(value.intValue ?? Number.NaN),
    ]),
  );
}

/** The numbers of fields in `opentelemetry/proto/trace/v1/trace.proto` and what it imports. */
function fromProtobuf(body: Buffer): ReceivedSpan[] {
  return messagesOf(body, 1).flatMap((resourceSpans) => {
    const resource = attributesOf(messagesOf(resourceSpans, 1).flatMap((each) => messagesOf(each, 1)));
    return messagesOf(resourceSpans, 2)
      .flatMap((scopeSpans) => messagesOf(scopeSpans, 2))
      .map((span) => ({
        traceId: textOf(span, 1, 'hex'),
        spanId: textOf(span, 2, 'hex'),
        parentSpanId: textOf(span, 4, 'hex'),
        name: textOf(span, 5),
        kind: Number(numberOf(span, 6)),
        startNs: numberOf(span, 7),
        endNs: numberOf(span, 8),
        attributes: attributesOf(messagesOf(span, 9)),
        status: Number(messagesOf(span, 15).map((status) => numberOf(status, 3))[0] ?? 0n),
        resource,
      }));
  });
}

function attributesOf(pairs: readonly Buffer[]): ReceivedSpan['attributes'] {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [value = Buffer.alloc(0)] = messagesOf(pair, 2);
      const [text] = messagesOf(value, 1);
      const flag = fieldsOf(value).find(({ number }) => number === 2);
      if (text !== undefined) return [textOf(pair, 1), text.toString()];
      return [textOf(pair, 1), flag === undefined ? Number(numberOf(value, 3)) : flag.value !== 0n];
    }),
  );
}

interface Field {
  readonly number: number;
  readonly value: bigint | Buffer;
}

/** The fields of a message in the wire format of protobuf. */
function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at] ?? 0;
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        fields.push({ number, value: varint() });
        break;
      case 1:
        fields.push({ number, value: message.readBigUInt64LE(at) });
        at += 8;
        break;
      case 2: {
        const length = Number(varint());
        fields.push({ number, value: message.subarray(at, at + length) });
        at += length;
        break;
      }
      case 5:
        fields.push({ number, value: BigInt(message.readUInt32LE(at)) });
        at += 4;
        break;
      default:
        throw new Error(`field ${number} has an unknown type`);
    }
  }
  return fields;
}

function messagesOf(message: Buffer, number: number): Buffer[] {
  return fieldsOf(message).flatMap((field) =>
    field.number === number && Buffer.isBuffer(field.value) ? [field.value] : [],
  );
}

function textOf(message: Buffer, number: number, encoding: 'hex' | 'utf8' = 'utf8'): string {
  return messagesOf(message, number)[0]?.toString(encoding) ?? '';
}

function numberOf(message: Buffer, number: number): bigint {
  const field = fieldsOf(message).find((each) => each.number === number);
  return typeof field?.value === 'bigint' ? field.value : 0n;
}
