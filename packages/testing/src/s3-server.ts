import { createHash, createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

const ACCESS_KEY = 'AKIDTESTTESTTEST';
const SECRET_KEY = 'a-secret/with+odd=characters';
const REGION = 'mill-1';
const BUCKET = 'mill-files';

/** What a test makes of a request: a status with an error code, a response without its end, or no response at all. */
export type S3Fault = { readonly status: number; readonly code: string } | 'cut' | 'drop' | 'lost';

export interface S3Call {
  readonly method: string;
  readonly key: string;
  readonly query: URLSearchParams;
}

/** A server that speaks the part of S3 that stores need, checks signatures by itself, and keeps objects in memory. */
export interface S3Server {
  readonly settings: {
    readonly endpoint: string;
    readonly region: string;
    readonly bucket: string;
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
  };
  readonly objects: Map<string, Buffer>;
  /** Of uploads that were begun, by their ids. */
  readonly uploads: Map<string, { readonly key: string; readonly parts: Map<number, Buffer> }>;
  readonly calls: S3Call[];
  /** Asked before each request is handled; `lost` handles it and drops the response. */
  fault: (call: S3Call) => S3Fault | null;
  /** Services that don't know conditional writes overwrite. */
  knowsConditions: boolean;
  stop(): Promise<void>;
}

export async function startS3Server(): Promise<S3Server> {
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      refuse(response, 500, 'InternalError', String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const made: S3Server = {
    settings: {
      endpoint: `http://127.0.0.1:${port}`,
      region: REGION,
      bucket: BUCKET,
      accessKeyId: ACCESS_KEY,
      secretAccessKey: SECRET_KEY,
    },
    objects: new Map(),
    uploads: new Map(),
    calls: [],
    fault: () => null,
    knowsConditions: true,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const url = new URL(request.url ?? '', made.settings.endpoint);
    const mistake = signatureMistake(request, url, body);
    if (mistake !== null) return refuse(response, 403, 'SignatureDoesNotMatch', mistake);
    const [, bucket = '', ...rest] = decodeURIComponent(url.pathname).split('/');
    const call = { method: request.method ?? '', key: rest.join('/'), query: url.searchParams };
    made.calls.push(call);
    const fault = made.fault(call);
    if (fault === 'drop') return void response.destroy();
    if (typeof fault === 'object' && fault !== null) {
      return refuse(response, fault.status, fault.code, 'as the test wants');
    }
    if (bucket !== BUCKET) return refuse(response, 404, 'NoSuchBucket', 'The bucket does not exist');
    const answer = answerTo(made, call, request.headers, body);
    if (fault === 'lost') return void response.destroy();
    response.writeHead(answer.status, { 'content-length': String(answer.body.length), ...answer.headers });
    if (call.method === 'HEAD') return void response.end();
    if (fault === 'cut') {
      response.write(answer.body.subarray(0, answer.body.length / 2), () => response.destroy());
      return;
    }
    response.end(answer.body);
  }
  return made;
}

interface Answer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
}

const done = (status: number, text = '', headers: Answer['headers'] = {}): Answer => ({
  status,
  headers,
  body: Buffer.from(text),
});
const failure = (status: number, code: string) => done(status, errorText(code, code));
const errorText = (code: string, text: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${text}</Message></Error>`;

function refuse(response: ServerResponse, status: number, code: string, text: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(errorText(code, text));
}

function answerTo(
  { objects, uploads, knowsConditions }: S3Server,
  { method, key, query }: S3Call,
  headers: IncomingMessage['headers'],
  body: Buffer,
): Answer {
  const uploadId = query.get('uploadId');
  const upload = uploadId === null ? undefined : uploads.get(uploadId);
  if (uploadId !== null && upload === undefined) return failure(404, 'NoSuchUpload');
  if (method === 'POST' && query.has('uploads')) {
    const id = randomUUID();
    uploads.set(id, { key, parts: new Map() });
    return done(
      200,
      `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
    );
  }
  if (method === 'GET' && key === '' && query.has('uploads')) {
    const prefix = query.get('prefix') ?? '';
    const listed = [...uploads].filter(([, each]) => each.key.startsWith(prefix));
    const items = listed.map(
      ([id, each]) => `<Upload><Key>${each.key}</Key><UploadId>${id}</UploadId></Upload>`,
    );
    return done(200, `<ListMultipartUploadsResult>${items.join('')}</ListMultipartUploadsResult>`);
  }
  if (upload !== undefined && uploadId !== null) {
    if (method === 'PUT') {
      upload.parts.set(Number(query.get('partNumber')), body);
      return done(200, '', { etag: etagOf(body) });
    }
    if (method === 'DELETE') {
      uploads.delete(uploadId);
      return done(204);
    }
    const named = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>(.*?)<\/ETag>/g)];
    const parts = named.map(([, number, etag]) => {
      const part = upload.parts.get(Number(number));
      return part !== undefined && etagOf(part) === etag ? part : null;
    });
    if (parts.includes(null) || parts.length === 0) return failure(400, 'InvalidPart');
    objects.set(upload.key, Buffer.concat(parts as Buffer[]));
    uploads.delete(uploadId);
    return done(200, '<CompleteMultipartUploadResult></CompleteMultipartUploadResult>');
  }
  const object = objects.get(key);
  if (method === 'PUT') {
    if (knowsConditions && headers['if-none-match'] === '*' && object !== undefined) {
      return failure(412, 'PreconditionFailed');
    }
    objects.set(key, body);
    return done(200, '', { etag: etagOf(body) });
  }
  if (method === 'DELETE') {
    objects.delete(key);
    return done(204);
  }
  if (object === undefined) return failure(404, 'NoSuchKey');
  const range = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '');
  if (range === null) return { status: 200, headers: {}, body: object };
  const [start, end] = [Number(range[1]), Number(range[2])];
  if (start >= object.length) return failure(416, 'InvalidRange');
  const part = object.subarray(start, end + 1);
  const shown = `bytes ${start}-${start + part.length - 1}/${object.length}`;
  return { status: 206, headers: { 'content-range': shown }, body: part };
}

function etagOf(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}

/** What is wrong with a signature (AWS Signature Version 4); null: nothing. Written from the specification, independently of what signs. */
function signatureMistake(request: IncomingMessage, url: URL, body: Buffer): string | null {
  const given =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? '',
    );
  if (given === null) return `not signed: ${request.headers.authorization ?? ''}`;
  const [, accessKey, day = '', region, names = '', signature] = given;
  if (accessKey !== ACCESS_KEY || region !== REGION) return 'another key or region';
  const hash = createHash('sha256').update(body).digest('hex');
  if (request.headers['x-amz-content-sha256'] !== hash) return 'the body has another hash';
  const signed = names.split(';');
  if (!signed.includes('host') || !signed.includes('x-amz-content-sha256')) return 'a header is not signed';
  const time = String(request.headers['x-amz-date']);
  const query = [...url.searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&');
  const canonical = [
    request.method,
    url.pathname,
    query,
    ...signed.map((name) => `${name}:${String(request.headers[name]).trim()}`),
    '',
    names,
    hash,
  ].join('\n');
  const scope = `${day}/${REGION}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(canonical).digest('hex')].join(
    '\n',
  );
  const key = [day, REGION, 's3', 'aws4_request'].reduce<string | Buffer>(
    (last, part) => createHmac('sha256', last).update(part).digest(),
    `AWS4${SECRET_KEY}`,
  );
  const expected = createHmac('sha256', key).update(text).digest('hex');
  return expected === signature ? null : 'another signature';
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
