import { useNavigate, useSearch } from '@tanstack/react-router';

/** Reads one value of an address; undefined: it isn't valid. */
type Read<Value> = (value: unknown) => Value | undefined;

/** The readers of an address, by name. */
interface Readers {
  readonly [name: string]: Read<unknown>;
}

/** What an address may say, by name. */
export type SearchOf<Fields extends Readers> = {
  readonly [Name in keyof Fields]?: NonNullable<ReturnType<Fields[Name]>>;
};

/** Makes a function that reads an address. Anybody can make one up, so invalid values are left out. */
export function searchReader<Fields extends Readers>(fields: Fields): (given: object) => SearchOf<Fields> {
  return (given) => {
    const read = Object.entries(fields).map(([name, field]) => [
      name,
      field((given as { readonly [name: string]: unknown })[name]),
    ]);
    return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as SearchOf<Fields>;
  };
}

/** A text; the router reads digits as a number. */
export const text: Read<string> = (value) => {
  const given = typeof value === 'number' ? String(value) : value;
  return typeof given === 'string' && given.trim() !== '' ? given : undefined;
};

/** The id of something. */
export const id: Read<number> = (value) => {
  const number = Number(value);
  return Number.isSafeInteger(number) && number >= 1 ? number : undefined;
};

/** A moment, in whatever way `Date` reads. */
export const moment: Read<string> = (value) =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? value : undefined;

/** One of these values. */
export function oneOf<const Value>(values: readonly Value[]): Read<Value> {
  return (value) => values.find((each) => each === value);
}

/** Changes some of the filters in the address; undefined takes one out. */
export type ApplyFilters<Search> = (
  change: {
    readonly [Name in keyof Search]?: Search[Name] | undefined;
  },
) => void;

/** The filters in the address, and what changes them. */
export function useFilters<Search extends object>(read: (given: object) => Search) {
  const navigate = useNavigate();
  const filters = read(useSearch({ strict: false }));
  const apply: ApplyFilters<Search> = (change) =>
    void navigate({ to: '.', search: (old: object) => read({ ...old, ...change }) as never, replace: true });
  return [filters, apply] as const;
}
