import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { loadOnce } from '@millrace/engine';
import { message } from '@millrace/messages';
import { AwsV4Signer } from 'aws4fetch';
import type { Agent, Dispatcher } from 'undici';
import { FileError } from './file-error.ts';
import type { S3Settings } from './settings.ts';

const CONNECT_MS = 10_000;
/** Between two pieces of a response, or until its head. */
const SILENCE_MS = 60_000;
/** Connections of this process to the service; further requests wait. */
const CONNECTIONS = 64;
const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 250;
/** Of a response that isn't a file. */
const MAX_TEXT_BYTES = 1024 * 1024;
/** Worth another attempt. */
const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
const EMPTY_SHA256 = createHash('sha256').digest('hex');

type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';

export interface S3Request {
  readonly method: Method;
  /** Without the prefix; empty: the bucket itself. */
  readonly key: string;
  readonly query?: { readonly [name: string]: string };
  readonly headers?: { readonly [name: string]: string };
  readonly body?: { readonly bytes: Uint8Array; readonly sha256: string };
  /** Statuses that aren't failures besides those of 2xx. */
  readonly accepts?: readonly number[];
}

export interface S3Response {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  /** Must be read to its end or destroyed. */
  readonly body: Readable;
}

/** The service refused or failed; the message is for operators. */
export class S3Error extends Error {
  override readonly name = 'S3Error';
  /** Null: there was no response. */
  readonly status: number | null;
  /** Such as `NoSuchBucket`; empty if it said none. */
  readonly code: string;

  constructor(text: string, status: number | null, code: string, cause?: unknown) {
    super(text, { cause });
    this.status = status;
    this.code = code;
  }
}

/** Signed requests to one bucket. Redirects aren't followed. */
export class S3Client {
  readonly #settings: S3Settings;
  readonly #pause: (ms: number) => Promise<unknown>;
  readonly #agent = loadOnce(openAgent);

  /** @param wait between two attempts */
  constructor(settings: S3Settings, wait: (ms: number) => Promise<unknown> = pause) {
    this.#settings = settings;
    this.#pause = wait;
  }

  get prefix(): string {
    return this.#settings.prefix;
  }

  /** For operators: `s3://bucket/prefix at https://...`. */
  get place(): string {
    const { bucket, prefix, endpoint } = this.#settings;
    return `s3://${bucket}/${prefix} at ${endpoint}`;
  }

  /**
   * Sends a request, again if the service or the network failed for the moment.
   * @throws FileError `file_store_unavailable`, `file_store_full`; its cause is an S3Error
   */
  async send(request: S3Request): Promise<S3Response> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#once(request);
      } catch (error) {
        const isPassing = error instanceof S3Error && (error.status === null || PASSING.has(error.status));
        if (!isPassing || attempt === ATTEMPTS) throw toFileError(error);
        await this.#pause(FIRST_PAUSE_MS * 2 ** (attempt - 1));
      }
    }
  }

  /** The same for a response that isn't a file. @throws FileError */
  async text(request: S3Request): Promise<{ readonly status: number; readonly text: string }> {
    const { status, body } = await this.send(request);
    return {
      status,
      text: await readText(body).catch((error: unknown) => Promise.reject(toFileError(error))),
    };
  }

  async #once(request: S3Request): Promise<S3Response> {
    const { method, body, accepts = [] } = request;
    const { url, headers } = await this.#sign(request);
    const agent = await this.#agent();
    let response: Dispatcher.ResponseData;
    try {
      response = await agent.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method,
        headers,
        body: body?.bytes ?? null,
      });
    } catch (cause) {
      throw new S3Error(`${method} ${url.origin}: ${reasonOf(cause)}`, null, '', cause);
    }
    // Whoever reads hears of failures; a body that is destroyed unread has nobody to tell.
    response.body.on('error', () => {});
    const { statusCode: status } = response;
    if ((status >= 200 && status < 300) || accepts.includes(status)) {
      return { status, headers: flat(response.headers), body: response.body };
    }
    const text = await readText(response.body).catch(() => '');
    const code = textOf(text, 'Code');
    const said = [code, textOf(text, 'Message')].filter((part) => part !== '').join(': ');
    throw new S3Error(`${method} ${url.origin}${url.pathname}: ${status} ${said}`.trim(), status, code);
  }

  async #sign({ method, key, query = {}, headers = {}, body }: S3Request) {
    const { endpoint, bucket, prefix, region, accessKeyId, secretAccessKey } = this.#settings;
    const path = key === '' ? bucket : `${bucket}/${prefix}${key}`;
    const url = new URL(`${endpoint}/${path.split('/').map(encodeURIComponent).join('/')}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, 'x-amz-content-sha256': body?.sha256 ?? EMPTY_SHA256 },
      accessKeyId,
      secretAccessKey,
      region,
      service: 's3',
      allHeaders: true,
    });
    const signed = await signer.sign();
    const sent = Object.fromEntries([...signed.headers].filter(([name]) => name !== 'host'));
    return { url, headers: { ...sent, 'content-length': String(body?.bytes.byteLength ?? 0) } };
  }
}

/** Loaded by the first request: an installation whose files are in a folder needs none of it. */
async function openAgent(): Promise<Agent> {
  const { Agent } = await import('undici');
  return new Agent({
    connections: CONNECTIONS,
    connect: { timeout: CONNECT_MS },
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
  });
}

function flat(headers: Dispatcher.ResponseData['headers']): S3Response['headers'] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value ?? '')]));
}

/** @throws S3Error if it is too long, or breaks off */
async function readText(body: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      length += piece.length;
      if (length > MAX_TEXT_BYTES) throw new Error('the response is too long');
      pieces.push(piece);
    }
  } catch (cause) {
    throw new S3Error(`the response broke off: ${reasonOf(cause)}`, null, '', cause);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** The text of the first element of this name. What services send is flat and machine-made. */
export function textOf(xml: string, name: string): string {
  const start = xml.indexOf(`<${name}>`);
  const end = xml.indexOf(`</${name}>`, start);
  if (start === -1 || end === -1) return '';
  return decodeEntities(xml.slice(start + name.length + 2, end)).trim();
}

/** The contents of all elements of this name. */
export function elementsOf(xml: string, name: string): string[] {
  return xml
    .split(`<${name}>`)
    .slice(1)
    .map((part) => part.split(`</${name}>`, 1)[0] ?? '');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#34;': '"',
  '&apos;': "'",
  '&#39;': "'",
  '&amp;': '&',
};

function decodeEntities(text: string): string {
  return text.replace(/&(?:lt|gt|quot|#34|apos|#39|amp);/g, (entity) => ENTITIES[entity] ?? entity);
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.message === '' ? String((cause as NodeJS.ErrnoException).code ?? cause.name) : cause.message;
}

/** Those who asked for a file are told nothing of buckets; the cause is for the log. */
export function toFileError(cause: unknown): unknown {
  if (!(cause instanceof S3Error)) return cause;
  return cause.status === 507 || cause.code === 'QuotaExceeded'
    ? new FileError('file_store_full', message('service.file_disk_full'), { cause })
    : new FileError('file_store_unavailable', message('service.file_store_unavailable'), { cause });
}
