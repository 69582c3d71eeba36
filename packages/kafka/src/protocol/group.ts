import { ByteReader, ByteWriter } from '../bytes.ts';
import type { Request } from './request.ts';

/** A member of a group, as its coordinator knows it. */
export interface Membership {
  readonly group: string;
  /** A name that stays the same on each connection; null where brokers don't know such names yet. */
  readonly instanceId: string | null;
  readonly memberId: string;
  readonly generation: number;
}

export interface Joined {
  readonly error: number;
  readonly generation: number;
  readonly leader: string;
  readonly memberId: string;
  /** Only the leader is told of the members, and assigns partitions to them. */
  readonly members: readonly { readonly memberId: string; readonly topics: readonly string[] }[];
}

/** From this version on members have names. */
const NAMED_JOIN = 5;
const NAMED = 3;
const NAMED_COMMIT = 7;

export function joinGroup(
  version: number,
  { group, instanceId, memberId }: Membership,
  wanted: {
    readonly protocol: string;
    readonly topics: readonly string[];
    readonly sessionMs: number;
    readonly rebalanceMs: number;
  },
): Request<Joined> {
  return {
    ...{ api: 'joinGroup', version },
    write: (writer) => {
      writer.string(group).int32(wanted.sessionMs).int32(wanted.rebalanceMs).string(memberId);
      if (version >= NAMED_JOIN) writer.string(instanceId);
      writer.string('consumer').array([wanted.protocol], (protocol) => {
        writer.string(protocol).bytes(writeSubscription(wanted.topics));
      });
    },
    read: (reader) => {
      reader.int32();
      const error = reader.int16();
      const generation = reader.int32();
      reader.string();
      const leader = reader.text();
      const ownId = reader.text();
      const members = reader.array(() => {
        const id = reader.text();
        if (version >= NAMED_JOIN) reader.string();
        return { memberId: id, topics: readSubscription(reader.bytes()) };
      });
      return { error, generation, leader, memberId: ownId, members };
    },
  };
}

export type Assignment = ReadonlyMap<string, readonly number[]>;

export function syncGroup(
  version: number,
  { group, instanceId, memberId, generation }: Membership,
  assignments: ReadonlyMap<string, Assignment>,
): Request<{ readonly error: number; readonly assignment: Assignment }> {
  return {
    ...{ api: 'syncGroup', version },
    write: (writer) => {
      writer.string(group).int32(generation).string(memberId);
      if (version >= NAMED) writer.string(instanceId);
      writer.array([...assignments], ([member, assignment]) => {
        writer.string(member).bytes(writeAssignment(assignment));
      });
    },
    read: (reader) => {
      reader.int32();
      return { error: reader.int16(), assignment: readAssignment(reader.bytes()) };
    },
  };
}

export function heartbeat(
  version: number,
  { group, instanceId, memberId, generation }: Membership,
): Request<{ readonly error: number }> {
  return {
    ...{ api: 'heartbeat', version },
    write: (writer) => {
      writer.string(group).int32(generation).string(memberId);
      if (version >= NAMED) writer.string(instanceId);
    },
    read: (reader) => {
      reader.int32();
      return { error: reader.int16() };
    },
  };
}

export function leaveGroup(
  version: number,
  { group, instanceId, memberId }: Membership,
): Request<{ readonly error: number }> {
  return {
    ...{ api: 'leaveGroup', version },
    write: (writer) => {
      writer.string(group);
      if (version >= NAMED) writer.array([memberId], (id) => writer.string(id).string(instanceId));
      else writer.string(memberId);
    },
    read: (reader) => {
      reader.int32();
      return { error: reader.int16() };
    },
  };
}

/** By topic and partition. */
export type Offsets = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** @returns -1 for a partition of which the group has read nothing */
export function offsetFetch(
  version: number,
  group: string,
  wanted: Assignment,
): Request<{ readonly error: number; readonly offsets: Offsets }> {
  return {
    ...{ api: 'offsetFetch', version },
    write: (writer) => {
      writer.string(group).array([...wanted], ([topic, partitions]) => {
        writer.string(topic).array(partitions, (partition) => writer.int32(partition));
      });
    },
    read: (reader) => {
      reader.int32();
      let failed = 0;
      const topics = reader.array(() => {
        const name = reader.text();
        const partitions = reader.array(() => {
          const entry = [reader.int32(), reader.int64()] as const;
          reader.string();
          failed ||= reader.int16();
          return entry;
        });
        return [name, new Map(partitions)] as const;
      });
      return { error: reader.int16() || failed, offsets: new Map(topics) };
    },
  };
}

/** @param offsets the next ones to read */
export function offsetCommit(
  version: number,
  { group, instanceId, memberId, generation }: Membership,
  offsets: Offsets,
): Request<{ readonly error: number }> {
  return {
    ...{ api: 'offsetCommit', version },
    write: (writer) => {
      writer.string(group).int32(generation).string(memberId);
      if (version >= NAMED_COMMIT) writer.string(instanceId);
      // For as long as the broker keeps them.
      else writer.int64(-1);
      writer.array([...offsets], ([topic, partitions]) => {
        writer.string(topic).array([...partitions], ([partition, offset]) => {
          writer.int32(partition).int64(offset);
          if (version >= NAMED_COMMIT) writer.int32(-1);
          writer.string('');
        });
      });
    },
    read: (reader) => {
      if (version >= 3) reader.int32();
      let error = 0;
      reader.array(() => {
        reader.string();
        reader.array(() => {
          reader.int32();
          error ||= reader.int16();
        });
      });
      return { error };
    },
  };
}

function writeSubscription(topics: readonly string[]): Buffer {
  const writer = new ByteWriter().int16(0);
  return writer
    .array(topics, (topic) => writer.string(topic))
    .bytes(null)
    .result();
}

/** Of another member, which may have written it in a later version: what follows is skipped. */
function readSubscription(bytes: Buffer | null): string[] {
  if (bytes === null || bytes.byteLength === 0) return [];
  const reader = new ByteReader(bytes);
  reader.int16();
  return reader.array(() => reader.text());
}

function writeAssignment(assignment: Assignment): Buffer {
  const writer = new ByteWriter().int16(0);
  writer.array([...assignment], ([topic, partitions]) => {
    writer.string(topic).array(partitions, (partition) => writer.int32(partition));
  });
  return writer.bytes(null).result();
}

function readAssignment(bytes: Buffer | null): Assignment {
  if (bytes === null || bytes.byteLength === 0) return new Map();
  const reader = new ByteReader(bytes);
  reader.int16();
  return new Map(reader.array(() => [reader.text(), reader.array(() => reader.int32())] as const));
}
