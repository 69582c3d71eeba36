import {
  finishWork,
  isJsonArray,
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  Meter,
  type NodeResult,
  setOwn,
  type Work,
} from '@millrace/engine';
import { type Message, mapTexts } from '@millrace/messages';
import { type Ranges, SecretSearch, unionOf } from './mask-search.ts';
import { rangesIn, sourceOf, VIEWS } from './mask-views.ts';

/** Replaces a secret. */
export const MASK = '***';
const MASK_BYTES = Buffer.from(MASK);
/** Shorter strings aren't treated as secrets: replacing them would leave nothing of an output. */
const MIN_LENGTH = 3;
/** Shorter strings aren't looked for in base64 and hexadecimal, where they occur by chance. */
const MIN_ENCODED_LENGTH = 6;
/** How many nested encodings are undone. */
const MAX_ENCODINGS = 2;
/** Maximum growth of a byte when it is escaped: `\\u002f`, `&#x0002f;`. */
const MAX_GROWTH = 10;
/** The engine rejects outputs this deep in any case. */
const MAX_DEPTH = 1_100;

/**
 * Replaces secrets in a node's output, error and logs, in values and in property names, including encoded ones. Instead of
 * guessing how a secret looks when encoded, it decodes each text in every known way and searches the result. The cost grows
 * with the length of the texts alone, not with the number of secrets: about half a second of CPU time for 16 MiB of base64,
 * a fifth of that for prose.
 */
export function* maskSecrets(result: NodeResult, secrets: Iterable<string>): Work<NodeResult> {
  const masking = maskingOf(secrets);
  if (masking === null) return result;
  const meter = new Meter();
  // Fields that control the engine stay: a secret that is the word "success" must not change the node's outcome.
  const members: JsonObject = { ...result };
  const shown: { [member: string]: JsonValue } = {};
  for (const member of ['output', 'log']) {
    const value = members[member];
    if (value !== undefined) shown[member] = yield* mask(value, masking, 0, meter);
  }
  if (result.kind !== 'failure') return { ...result, ...shown } as NodeResult;
  return { ...result, ...shown, message: maskMessage(result.message, masking, meter) } as NodeResult;
}

/** The same in any value. */
export function* maskValue(value: JsonValue, secrets: Iterable<string>): Work<JsonValue> {
  const masking = maskingOf(secrets);
  return masking === null ? value : yield* mask(value, masking, 0, new Meter());
}

interface Masking {
  readonly known: ReadonlySet<string>;
  /** Texts with fewer characters can't contain a secret in any encoding. */
  readonly minLength: number;
  readonly all: SecretSearch;
  /** Secrets long enough to be looked for in encoded data. */
  readonly long: SecretSearch | null;
}

function maskingOf(secrets: Iterable<string>): Masking | null {
  const known = new Set([...secrets].filter(({ length }) => length >= MIN_LENGTH));
  if (known.size === 0) return null;
  const bytesOf = (texts: readonly string[]): Buffer[] => texts.map((text) => Buffer.from(text, 'utf8'));
  const long = [...known].filter(({ length }) => length >= MIN_ENCODED_LENGTH);
  return {
    known,
    minLength: Math.min(...[...known].map(({ length }) => length)),
    all: new SecretSearch(bytesOf([...known])),
    long: long.length === 0 ? null : new SecretSearch(bytesOf(long)),
  };
}

/** Ranges of secrets in a text, under up to `encodings` nested encodings. */
function* findSecrets(
  text: Buffer,
  masking: Masking,
  search: SecretSearch,
  encodings: number,
  meter: Meter,
): Work<Ranges> {
  const found = yield* search.find(text, meter);
  if (encodings === 0) return found;
  const shortest = masking.long?.shortest ?? Number.POSITIVE_INFINITY;
  const limits = { shortest, reach: search.longest * MAX_GROWTH ** encodings };
  const source = yield* sourceOf(text, limits, meter);
  const all = [found];
  for (const view of VIEWS) {
    const inView = view.isBinary ? masking.long : search;
    if (inView === null) continue;
    const seen = yield* view.open(source, limits, null, meter);
    if (seen === null) continue;
    const ranges = yield* findSecrets(seen, masking, inView, encodings - 1, meter);
    if (ranges.length === 0) continue;
    // Decoded again, because recording where each byte comes from costs more than all the rest.
    const spans = { starts: new Uint32Array(seen.length), ends: new Uint32Array(seen.length) };
    yield* view.open(source, limits, spans, meter);
    all.push(rangesIn(ranges, spans));
  }
  return unionOf(all);
}

function* maskText(text: string, masking: Masking, meter: Meter): Work<string> {
  if (text.length < masking.minLength) return text;
  const bytes = Buffer.from(text, 'utf8');
  meter.spendText(text.length);
  if (meter.isDue) yield meter.take();
  const found = yield* findSecrets(bytes, masking, masking.all, MAX_ENCODINGS, meter);
  if (found.length === 0) return text;
  return (
    (yield* maskEncoded(text, masking, meter)) ??
    splice(text, bytes.length === text.length ? found : inUnits(text, found))
  );
}

/** A text that is base64 as a whole is decoded, masked and encoded again, so that its reader can still decode it. */
function* maskEncoded(text: string, masking: Masking, meter: Meter): Work<string | null> {
  const encoding =
    BASE64.test(text) && text.length % 4 === 0 ? 'base64' : BASE64_URL.test(text) ? 'base64url' : null;
  if (encoding === null || masking.long === null) return null;
  const bytes = Buffer.from(text, encoding);
  meter.spendText(text.length);
  if (meter.isDue) yield meter.take();
  const found = yield* findSecrets(bytes, masking, masking.long, MAX_ENCODINGS - 1, meter);
  if (found.length === 0) return null;
  const masked = (yield* spliced(bytes, found, meter)).toString(encoding);
  // A secret that is base64 itself may still occur unchanged.
  const left = yield* findSecrets(Buffer.from(masked), masking, masking.all, MAX_ENCODINGS, meter);
  return left.length === 0 ? masked : null;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const BASE64_URL = /^[A-Za-z0-9_-]+$/;

function* spliced(bytes: Buffer, ranges: Ranges, meter: Meter): Work<Buffer> {
  // A secret has at least as many bytes as what replaces it.
  const out = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  let done = 0;
  for (let at = 0; at < ranges.length; at += 2) {
    length += bytes.copy(out, length, done, ranges[at]);
    length += MASK_BYTES.copy(out, length);
    done = ranges[at + 1] as number;
    meter.spend(0.1);
    if (meter.isDue) yield meter.take();
  }
  length += bytes.copy(out, length, done);
  return out.subarray(0, length);
}

function splice(text: string, ranges: Ranges): string {
  let masked = '';
  let done = 0;
  for (let at = 0; at < ranges.length; at += 2) {
    masked += text.slice(done, ranges[at]) + MASK;
    done = ranges[at + 1] as number;
  }
  return masked + text.slice(done);
}

/** Converts byte ranges of a text's UTF-8 to ranges of the text. A partly covered character is covered as a whole. */
function inUnits(text: string, ranges: Ranges): Ranges {
  const offsets: number[] = [];
  let bytes = 0;
  let unit = 0;
  for (const [index, wanted] of ranges.entries()) {
    const isStart = index % 2 === 0;
    while (bytes < wanted) {
      const code = text.codePointAt(unit) as number;
      const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      if (isStart && bytes + size > wanted) break;
      bytes += size;
      unit += size === 4 ? 2 : 1;
    }
    offsets.push(unit);
  }
  return offsets;
}

function* mask(value: JsonValue, masking: Masking, depth: number, meter: Meter): Work<JsonValue> {
  meter.spend(1);
  if (meter.isDue) yield meter.take();
  if (typeof value === 'string') return yield* maskText(value, masking, meter);
  if (typeof value === 'number') return masking.known.has(String(value)) ? MASK : value;
  if (typeof value !== 'object' || value === null) return value;
  if (isRawNumber(value)) return masking.known.has(value.rawJSON) ? MASK : value;
  if (depth === MAX_DEPTH) return MASK;
  if (isJsonObject(value)) return yield* maskMembers(value, masking, depth, meter);
  if (!isJsonArray(value)) return value;
  const masked: JsonValue[] = [];
  for (const item of value) masked.push(yield* mask(item, masking, depth + 1, meter));
  return masked;
}

/** Keys and parameter names are the service's own; parameter values may contain a secret. */
function maskMessage(original: Message, masking: Masking, meter: Meter): Message {
  return mapTexts(original, (text) => finishWork(maskText(text, masking, meter)));
}

function* maskMembers(object: JsonObject, masking: Masking, depth: number, meter: Meter): Work<JsonObject> {
  const masked: { [name: string]: JsonValue } = {};
  for (const [name, value] of Object.entries(object)) {
    const maskedName = yield* maskText(name, masking, meter);
    setOwn(masked, maskedName, yield* mask(value, masking, depth + 1, meter));
  }
  return masked;
}
