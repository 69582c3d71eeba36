import { createHash, randomBytes, randomUUID } from 'node:crypto';

/**
 * The host functions that code may call: they depend only on their arguments (and randomness), and reach nothing. They run
 * in the code's thread, so its time limit applies here as well, and they take and return JSON text.
 */
type HostFunction = (...args: never[]) => unknown;

/** Anything longer would be too much work in one call. */
const MAX_ARGUMENT_LENGTH = 16 * 1024 * 1024;
/** Formatters are costly to create; beyond this many per run, they are recreated. */
const MAX_FORMATTERS = 100;

/** Handles a call from the sandbox: `[name, ...arguments]` as JSON; an error is reported by name and message. */
export function createHostLibrary(): (call: string) => string {
  const functions = hostFunctions();
  return (call) => {
    try {
      if (call.length > MAX_ARGUMENT_LENGTH)
        throw new RangeError('The value is too large for this function.');
      const [name, ...args] = JSON.parse(call) as [string, ...never[]];
      const run = functions.get(name);
      if (run === undefined) throw new TypeError(`${name} is not available in here`);
      return JSON.stringify({ value: run(...args) ?? null });
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      return JSON.stringify({ error: { name, message } });
    }
  };
}

function hostFunctions(): ReadonlyMap<string, HostFunction> {
  const formatters = new Map<string, object>();
  const functions: { readonly [name: string]: HostFunction } = {
    atob: (text: string) => atob(text),
    btoa: (text: string) => btoa(text),
    encode: (text: string) => latin1(Buffer.from(text, 'utf8')),
    encoding: (label: string) => new TextDecoder(label).encoding,
    decode: (label: string, fatal: boolean, ignoreBOM: boolean, bytes: string) =>
      new TextDecoder(label, { fatal, ignoreBOM }).decode(Buffer.from(bytes, 'latin1')),
    digest: (algorithm: string, bytes: string) => digest(algorithm, bytes),
    random: (count: number) => latin1(randomBytes(Math.min(count, 65_536))),
    uuid: () => randomUUID(),
    url: (address: string, base: string | null) =>
      partsOf(base === null ? new URL(address) : new URL(address, base)),
    setUrl: (href: string, part: string, value: string) => setPart(new URL(href), part, value),
    readQuery: (text: string) => [...new URLSearchParams(text)],
    writeQuery: (pairs: [string, string][]) => new URLSearchParams(pairs).toString(),
    upper: (text: string, locales: string[] | undefined) => text.toLocaleUpperCase(locales ?? LOCALE),
    lower: (text: string, locales: string[] | undefined) => text.toLocaleLowerCase(locales ?? LOCALE),
    canonical: (locales: string[]) => Intl.getCanonicalLocales(locales),
    supportedValues: (key: string) => Intl.supportedValuesOf(key as 'unit'),
    supported: (kind: string, locales: string[], options: object) =>
      constructorOf(kind).supportedLocalesOf(locales, options),
    intl: (kind: string, locales: unknown, options: object | null, method: string, args: Sent[]) => {
      const key = JSON.stringify([kind, locales, options]);
      const formatter = formatters.get(key) ?? makeFormatter(kind, locales, options);
      if (formatters.size >= MAX_FORMATTERS) formatters.clear();
      formatters.set(key, formatter);
      return callFormatter(formatter, kind, method, args.map(received));
    },
  };
  return new Map(Object.entries(functions));
}

/** A value as it arrives: JSON has neither NaN nor -0 nor integers of any size. */
type Sent = readonly ['number' | 'bigint' | 'other', never];

function received([type, value]: Sent): unknown {
  if (type === 'number') return Number(value);
  return type === 'bigint' ? BigInt(value) : (value ?? undefined);
}

/** Fixed, so that code gives the same result wherever it runs. */
const LOCALE = 'en-US';
const TIME_ZONE = 'UTC';

const INTL: { readonly [kind: string]: readonly string[] } = {
  Collator: ['compare'],
  DateTimeFormat: ['format', 'formatToParts', 'formatRange', 'formatRangeToParts'],
  DisplayNames: ['of'],
  DurationFormat: ['format', 'formatToParts'],
  ListFormat: ['format', 'formatToParts'],
  NumberFormat: ['format', 'formatToParts', 'formatRange', 'formatRangeToParts'],
  PluralRules: ['select', 'selectRange'],
  RelativeTimeFormat: ['format', 'formatToParts'],
  Segmenter: ['segment'],
};

interface IntlConstructor {
  new (locales: unknown, options: object | undefined): object;
  supportedLocalesOf(locales: string[], options: object): string[];
}

function constructorOf(kind: string): IntlConstructor {
  const found = Object.hasOwn(INTL, kind) ? Reflect.get(Intl, kind) : undefined;
  if (typeof found !== 'function') throw new TypeError(`Intl.${kind} is not available in here`);
  return found as IntlConstructor;
}

function makeFormatter(kind: string, locales: unknown, options: object | null): object {
  const given = kind === 'DateTimeFormat' ? { timeZone: TIME_ZONE, ...options } : (options ?? undefined);
  return new (constructorOf(kind))(locales ?? LOCALE, given);
}

function callFormatter(formatter: object, kind: string, method: string, args: readonly unknown[]): unknown {
  if (method !== 'resolvedOptions' && INTL[kind]?.includes(method) !== true) {
    throw new TypeError(`Intl.${kind}.prototype.${method} is not available in here`);
  }
  const result = (Reflect.get(formatter, method) as (...given: unknown[]) => unknown).apply(formatter, [
    ...args,
  ]);
  return kind === 'Segmenter' && method === 'segment'
    ? [...(result as Iterable<{ input?: string }>)].map(({ input: _, ...part }) => part)
    : result;
}

const DIGESTS: { readonly [name: string]: string } = {
  'SHA-1': 'sha1',
  'SHA-256': 'sha256',
  'SHA-384': 'sha384',
  'SHA-512': 'sha512',
};

function digest(algorithm: string, bytes: string): string {
  const name = DIGESTS[algorithm.toUpperCase()];
  if (name === undefined) {
    throw Object.assign(new Error('Unrecognized algorithm name'), { name: 'NotSupportedError' });
  }
  return latin1(createHash(name).update(Buffer.from(bytes, 'latin1')).digest());
}

function latin1(bytes: Buffer): string {
  return bytes.toString('latin1');
}

const URL_PARTS = [
  'href',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const;

function partsOf(url: URL): { readonly [part: string]: string } {
  return Object.fromEntries([...URL_PARTS, 'origin' as const].map((part) => [part, url[part]]));
}

function setPart(url: URL, part: string, value: string): { readonly [part: string]: string } {
  const known = URL_PARTS.find((each) => each === part);
  if (known === undefined) throw new TypeError(`${part} cannot be set`);
  url[known] = value;
  return partsOf(url);
}
