import { isIP } from 'node:net';
import { parseDatabaseHosts } from '@millrace/database/hosts';
import { parseSecretKey } from '@millrace/secrets/key-text';
import { readList } from '../read-list.ts';

/** One environment variable: how its text is parsed, and how the documentation describes it. */
export interface Variable<T> {
  readonly about: string;
  /** The values it accepts, as in "a whole number from 1 to 10". */
  readonly allowed: string;
  readonly example: string;
  /** Used if it is not set or empty; "" means no default. */
  readonly fallback: string;
  /** True if the value must not be repeated in messages. */
  readonly secret?: boolean;
  /** Undefined: not allowed. */
  parse(text: string): T | undefined;
}

type Wording = { readonly about: string; readonly fallback: string; readonly example: string };

export function integer(
  words: Wording & {
    readonly min: number;
    readonly max: number;
    readonly unit?: string;
    readonly zero?: string;
  },
): Variable<number> {
  const unit = words.unit === undefined ? '' : ` of ${words.unit}`;
  const zero = words.zero === undefined ? '' : ` (0: ${words.zero})`;
  return {
    ...words,
    allowed: `a whole number${unit} from ${words.min} to ${words.max}${zero}`,
    parse(text) {
      const value = Number(text);
      return /^\d{1,15}$/.test(text) && value >= words.min && value <= words.max ? value : undefined;
    },
  };
}

const SIZE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  B: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
};

/** Reads a number of bytes, optionally followed by KiB, MiB or GiB. */
export function readBytes(text: string): number | undefined {
  const match = /^(\d{1,12})\s?(B|KiB|MiB|GiB|)$/.exec(text);
  const unit = SIZE_UNITS[match?.[2] ?? ''];
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}

/** A number of bytes, optionally followed by KiB, MiB or GiB; with `zero`, also 0. */
export function bytes(
  words: Wording & { readonly min: string; readonly max: string; readonly zero?: string },
): Variable<number> {
  const [min, max] = [readBytes(words.min) ?? 0, readBytes(words.max) ?? 0];
  const zero = words.zero === undefined ? '' : ` (0: ${words.zero})`;
  return {
    ...words,
    allowed: `a size from ${words.min} to ${words.max}, in bytes or with KiB, MiB or GiB${zero}`,
    parse(text) {
      const value = readBytes(text);
      if (value === 0 && words.zero !== undefined) return value;
      return value !== undefined && value >= min && value <= max ? value : undefined;
    },
  };
}

export function oneOf<T extends string>(words: Wording & { readonly values: readonly T[] }): Variable<T> {
  return {
    ...words,
    allowed: `one of ${words.values.join(', ')}`,
    parse: (text) => words.values.find((value) => value === text),
  };
}

/** Free text that must match the pattern. */
export function text(
  words: Wording & { readonly allowed: string; readonly pattern: RegExp; readonly secret?: boolean },
): Variable<string> {
  return { ...words, parse: (value) => (words.pattern.test(value) ? value : undefined) };
}

/** Comma-separated items, each matching the pattern. */
export function list(
  words: Wording & { readonly allowed: string; readonly pattern: RegExp },
): Variable<string[]> {
  return {
    ...words,
    parse(value) {
      const items = readList(value);
      return items.every((item) => words.pattern.test(item)) ? items : undefined;
    },
  };
}

/** `name=value` pairs with percent-encoding, separated by commas, as OpenTelemetry has them. */
export function pairs(
  words: Wording & { readonly secret?: boolean },
): Variable<{ readonly [name: string]: string }> {
  return {
    ...words,
    allowed: 'name=value pairs, separated by commas',
    parse(value) {
      const found: [string, string][] = [];
      for (const part of value.split(',')) {
        const match = /^\s*([^\s=,;"]{1,255})\s*=([^=]*(?:=.*)?)$/.exec(part);
        if (match === null) return undefined;
        try {
          found.push([match[1] ?? '', decodeURIComponent((match[2] ?? '').trim())]);
        } catch {
          return undefined;
        }
      }
      return Object.fromEntries(found);
    },
  };
}

/** A number from 0 to 1. */
export function share(words: Wording): Variable<number> {
  return {
    ...words,
    allowed: 'a number from 0 to 1',
    parse(value) {
      const number = /^\d*\.?\d+$/.test(value) ? Number(value) : Number.NaN;
      return number >= 0 && number <= 1 ? number : undefined;
    },
  };
}

/** Which proxies are trusted to report a request's source: none, a number of hops, or their addresses. */
export function proxies(words: Wording): Variable<false | number | string[]> {
  return {
    ...words,
    allowed:
      'off, the number of proxies in front (1 to 10), or their addresses and networks separated by commas',
    parse(value) {
      if (value === 'off') return false;
      if (/^([1-9]|10)$/.test(value)) return Number(value);
      const items = readList(value);
      return items.length > 0 && items.every(isAddressOrNetwork) ? items : undefined;
    },
  };
}

/** An http or https address without credentials, query and fragment; a trailing slash is dropped. */
export function webAddress(words: Wording): Variable<string> {
  return {
    ...words,
    allowed: 'an http:// or https:// address without user, query and fragment',
    parse(value) {
      const url = URL.parse(value);
      if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
      if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
        return undefined;
      return url.href.replace(/\/+$/, '');
    },
  };
}

/** Like {@link webAddress}, but for a whole host: the service can't be served below a path. */
export function webOrigin(words: Wording): Variable<string> {
  return {
    ...words,
    allowed: 'an http:// or https:// address without path, user, query and fragment',
    parse(value) {
      const address = webAddress(words).parse(value);
      return address !== undefined && new URL(address).pathname === '/' ? address : undefined;
    },
  };
}

/** The address of a PostgreSQL server, or of several for one database. */
export function databaseUrl(words: Wording): Variable<string> {
  return {
    ...words,
    secret: true,
    allowed:
      'postgresql://user:password@host:port/database, with host1:port,host2:port for several hosts and then target_session_attrs=read-write, primary or any',
    parse: (value) => (parseDatabaseHosts(value) === undefined ? undefined : value),
  };
}

/** Keys of 32 random bytes, comma-separated. One whose bytes are hardly random is refused. */
export function secretKeys(
  words: Omit<Wording, 'example'> & { readonly most: number },
): Variable<readonly Buffer[]> {
  const form = '32 random bytes in base64 or hexadecimal, as printed by "openssl rand -base64 32"';
  return {
    ...words,
    secret: true,
    allowed: words.most === 1 ? form : `up to ${words.most} keys, separated by commas, each ${form}`,
    example: '$(openssl rand -base64 32)',
    parse(value) {
      const keys = readList(value).map(parseSecretKey);
      if (keys.length === 0 || keys.length > words.most) return undefined;
      return keys.every((key) => key !== undefined) ? keys : undefined;
    },
  };
}

function isAddressOrNetwork(item: string): boolean {
  const [address = '', bits, ...rest] = item.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}
