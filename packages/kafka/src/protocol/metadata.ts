import type { Request } from './request.ts';

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

export interface TopicMetadata {
  readonly error: number;
  readonly name: string;
  /** Whether it is one of the brokers' own, such as the offsets of groups. */
  readonly isInternal: boolean;
  readonly partitions: readonly { readonly index: number; readonly leader: number }[];
}

export interface Metadata {
  readonly brokers: ReadonlyMap<number, BrokerAddress>;
  readonly topics: readonly TopicMetadata[];
}

/** Where topics are; null asks for all of them. None is made by asking, unless the broker is too old to be told. */
export function metadata(version: number, topics: readonly string[] | null): Request<Metadata> {
  return {
    ...{ api: 'metadata', version },
    write: (writer) => {
      if (topics === null) writer.int32(-1);
      else writer.array(topics, (topic) => writer.string(topic));
      if (version >= 4) writer.int8(0);
    },
    read: (reader) => {
      if (version >= 3) reader.int32();
      const brokers = reader.array(() => {
        const id = reader.int32();
        const address = { host: reader.text(), port: reader.int32() };
        reader.string();
        return [id, address] as const;
      });
      reader.string();
      reader.int32();
      const found = reader.array(() => {
        const error = reader.int16();
        const name = reader.text();
        const isInternal = reader.int8() !== 0;
        const partitions = reader.array(() => {
          reader.int16();
          const partition = { index: reader.int32(), leader: reader.int32() };
          reader.array(() => reader.int32());
          reader.array(() => reader.int32());
          return partition;
        });
        return { error, name, isInternal, partitions };
      });
      return { brokers: new Map(brokers), topics: found };
    },
  };
}

/** Which broker looks after a group. */
export function findCoordinator(
  version: number,
  group: string,
): Request<{ readonly error: number; readonly address: BrokerAddress }> {
  return {
    ...{ api: 'findCoordinator', version },
    write: (writer) => void writer.string(group).int8(0),
    read: (reader) => {
      reader.int32();
      const error = reader.int16();
      reader.string();
      reader.int32();
      return { error, address: { host: reader.text(), port: reader.int32() } };
    },
  };
}
