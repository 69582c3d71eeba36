import {
  isJsonArray,
  type JsonValue,
  ServiceError,
  type VectorCollection,
  type VectorFilter,
  type VectorItem,
  type VectorService,
} from '@millrace/engine';
import { verbatim } from '@millrace/messages';

type Stored = VectorItem & { readonly vector: readonly number[] };

/** Collections in memory for the tests of nodes; there are none at first. */
export function memoryVectors(): VectorService {
  const collections = new Map<string, { about: VectorCollection; items: Map<string, Stored> }>();
  const itemsOf = (name: string) => collections.get(name)?.items ?? new Map<string, Stored>();
  return {
    describe: async (name) => collections.get(name)?.about ?? null,
    async keep(name, items) {
      const known = items.filter(({ key, text }) => itemsOf(name).get(key)?.text === text);
      for (const item of known) {
        const { vector = [] } = itemsOf(name).get(item.key) ?? {};
        itemsOf(name).set(item.key, { ...item, vector });
      }
      return new Set(known.map(({ key }) => key));
    },
    async put(name, about, items) {
      const there = collections.get(name) ?? { about, items: new Map<string, Stored>() };
      collections.set(name, there);
      for (const item of items) there.items.set(item.key, item);
    },
    async search(name, { vector, limit, filter, minScore = -1 }) {
      if (!collections.has(name))
        throw new ServiceError('vectors_not_found', verbatim(`There is no ${name}.`));
      return [...itemsOf(name).values()]
        .filter((item) => fits(item, filter))
        .map(({ key, text, metadata, vector: own }) => ({ key, text, metadata, score: cosine(own, vector) }))
        .filter(({ score }) => score >= minScore)
        .toSorted((a, b) => b.score - a.score)
        .slice(0, limit);
    },
    async delete(name, what) {
      const items = itemsOf(name);
      const gone = [...items.values()].filter((item) =>
        what === null ? true : 'keys' in what ? what.keys.includes(item.key) : fits(item, what.filter),
      );
      for (const { key } of gone) items.delete(key);
      if (what === null) collections.delete(name);
      return gone.length;
    },
  };
}

function fits({ metadata }: VectorItem, filter: VectorFilter): boolean {
  return Object.entries(filter).every(([name, values]) => {
    const value: JsonValue = metadata[name] ?? null;
    return (isJsonArray(value) ? value : [value]).some((each) => values.includes(each));
  });
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const product = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, each, at) => sum + each * (y[at] ?? 0), 0);
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b));
}
