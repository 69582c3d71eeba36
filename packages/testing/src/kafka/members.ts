import type { Group } from './group.ts';
import { type In, Out } from './wire.ts';

/** Answers what members of a group ask for, after its name. @param error what to answer with; 0: what the group says */
export async function answerMember(
  group: Group,
  name: string,
  request: { readonly version: number; readonly input: In; readonly error: number },
): Promise<Out> {
  const { version, input, error } = request;
  switch (name) {
    case 'JoinGroup': {
      input.i32();
      input.i32();
      const id = input.str() ?? '';
      const instance = version >= 5 ? input.str() : null;
      input.str();
      const [subscription = Buffer.alloc(0)] = input.list(() => {
        input.str();
        return input.blob() ?? Buffer.alloc(0);
      });
      const joined =
        error === 0
          ? await group.join(id, instance, subscription)
          : { error, generation: -1, leader: '', id, members: [] };
      const out = new Out()
        .i32(0)
        .i16(joined.error)
        .i32(joined.generation)
        .str('range')
        .str(joined.leader)
        .str(joined.id);
      return out.list(joined.members, (member) => {
        out.str(member.id);
        if (version >= 5) out.str(member.instance);
        out.blob(member.subscription);
      });
    }
    case 'SyncGroup': {
      const generation = input.i32();
      const id = input.str() ?? '';
      if (version >= 3) input.str();
      const assignments = new Map(
        input.list(() => [input.str() ?? '', input.blob() ?? Buffer.alloc(0)] as const),
      );
      const synced = await group.sync(id, generation, assignments);
      return new Out()
        .i32(0)
        .i16(error || synced.error)
        .blob(synced.assignment);
    }
    case 'Heartbeat': {
      const generation = input.i32();
      return new Out().i32(0).i16(error || group.check(input.str() ?? '', generation));
    }
    case 'LeaveGroup': {
      const ids =
        version >= 3
          ? input.list(() => [input.str() ?? '', input.str()] as const)
          : [[input.str() ?? '', null] as const];
      for (const [id] of ids) group.leave(id);
      const out = new Out().i32(0).i16(error);
      return version >= 3 ? out.list(ids, ([id, instance]) => out.str(id).str(instance).i16(0)) : out;
    }
    case 'OffsetCommit': {
      const generation = input.i32();
      const failed = error || group.check(input.str() ?? '', generation);
      if (version >= 7) input.str();
      else input.i64();
      const topics = input.list(() => ({
        topic: input.str() ?? '',
        partitions: input.list(() => {
          const entry = { index: input.i32(), offset: input.i64() };
          if (version >= 6) input.i32();
          input.str();
          return entry;
        }),
      }));
      const out = version >= 3 ? new Out().i32(0) : new Out();
      return out.list(topics, ({ topic, partitions }) => {
        out.str(topic).list(partitions, ({ index, offset }) => {
          if (failed === 0) group.offsets.set(`${topic}/${index}`, offset);
          out.i32(index).i16(failed);
        });
      });
    }
    case 'OffsetFetch': {
      const topics = input.list(() => ({
        topic: input.str() ?? '',
        partitions: input.list(() => input.i32()),
      }));
      const out = new Out().i32(0);
      out.list(topics, ({ topic, partitions }) => {
        out.str(topic).list(partitions, (index) =>
          out
            .i32(index)
            .i64(group.offsets.get(`${topic}/${index}`) ?? -1)
            .str('')
            .i16(0),
        );
      });
      return out.i16(error);
    }
    default:
      throw new Error(`the broker does not know ${name}`);
  }
}
