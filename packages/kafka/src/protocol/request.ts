import type { ByteReader, ByteWriter } from '../bytes.ts';

/** Numbers of the requests that are sent. */
export const API = {
  produce: 0,
  fetch: 1,
  listOffsets: 2,
  metadata: 3,
  offsetCommit: 8,
  offsetFetch: 9,
  findCoordinator: 10,
  joinGroup: 11,
  heartbeat: 12,
  leaveGroup: 13,
  syncGroup: 14,
  saslHandshake: 17,
  apiVersions: 18,
  saslAuthenticate: 36,
} as const;

export type ApiName = keyof typeof API;

/** One request, in a version that the broker knows, and how its answer is read. */
export interface Request<Answer> {
  readonly api: ApiName;
  readonly version: number;
  readonly write: (writer: ByteWriter) => void;
  readonly read: (reader: ByteReader) => Answer;
}

/** Versions that brokers speak, by the number of the request. */
export type Versions = ReadonlyMap<number, { readonly min: number; readonly max: number }>;

/** The requests that have to be known, in the versions that are spoken here, the newest first. Kafka 1.1 to 4 know one of each. */
const SPOKEN = {
  produce: [3],
  fetch: [11, 4],
  listOffsets: [2],
  metadata: [4, 2],
  offsetCommit: [7, 2],
  offsetFetch: [3],
  findCoordinator: [1],
  joinGroup: [5, 2],
  heartbeat: [3, 1],
  leaveGroup: [3, 1],
  syncGroup: [3, 1],
  saslHandshake: [1],
  apiVersions: [0],
  saslAuthenticate: [0],
} as const satisfies Record<ApiName, readonly number[]>;

/** The newest version that both sides speak; null if there is none. */
export function commonVersion(api: ApiName, versions: Versions): number | null {
  const known = versions.get(API[api]);
  if (known === undefined) return null;
  return SPOKEN[api].find((version) => version >= known.min && version <= known.max) ?? null;
}

export function apiVersions(): Request<{ readonly error: number; readonly versions: Versions }> {
  return {
    ...{ api: 'apiVersions', version: 0 },
    write: () => undefined,
    read: (reader) => ({
      error: reader.int16(),
      versions: new Map(
        reader.array(() => {
          const key = reader.int16();
          return [key, { min: reader.int16(), max: reader.int16() }] as const;
        }),
      ),
    }),
  };
}

export function saslHandshake(
  mechanism: string,
): Request<{ readonly error: number; readonly mechanisms: readonly string[] }> {
  return {
    ...{ api: 'saslHandshake', version: 1 },
    write: (writer) => void writer.string(mechanism),
    read: (reader) => ({ error: reader.int16(), mechanisms: reader.array(() => reader.text()) }),
  };
}

export function saslAuthenticate(said: Buffer): Request<{ readonly error: number; readonly answer: Buffer }> {
  return {
    ...{ api: 'saslAuthenticate', version: 0 },
    write: (writer) => void writer.bytes(said),
    read: (reader) => {
      const error = reader.int16();
      // What it says of a rejected sign-in may repeat what it was sent.
      reader.string();
      return { error, answer: reader.bytes() ?? Buffer.alloc(0) };
    },
  };
}
