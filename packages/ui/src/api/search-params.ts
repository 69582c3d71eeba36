import { useNavigate, useSearch } from '@tanstack/react-router';

/** Parses one search parameter; undefined if it is invalid. */
type Read<Value> = (value: unknown) => Value | undefined;

/** The parsers, by parameter name. */
interface Readers {
  readonly [name: string]: Read<unknown>;
}

/** The parsed parameters, by name. */
export type SearchOf<Fields extends Readers> = {
  readonly [Name in keyof Fields]?: NonNullable<ReturnType<Fields[Name]>>;
};

/** Creates a parser for search parameters. Anyone can craft an address, so invalid values are dropped. */
export function searchReader<Fields extends Readers>(fields: Fields): (given: object) => SearchOf<Fields> {
  return (given) => {
    const read = Object.entries(fields).map(([name, field]) => [
      name,
      field((given as { readonly [name: string]: unknown })[name]),
    ]);
    return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as SearchOf<Fields>;
  };
}

/** A string; the router parses digits as a number. */
export const text: Read<string> = (value) => {
  const given = typeof value === 'number' ? String(value) : value;
  return typeof given === 'string' && given.trim() !== '' ? given : undefined;
};

export const id: Read<number> = (value) => {
  const number = Number(value);
  return Number.isSafeInteger(number) && number >= 1 ? number : undefined;
};

/** A date and time in any format that `Date` parses. */
export const moment: Read<string> = (value) =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? value : undefined;

export function oneOf<const Value>(values: readonly Value[]): Read<Value> {
  return (value) => values.find((each) => each === value);
}

/** Updates some of the filters in the address; undefined removes one. */
export type ApplyFilters<Search> = (
  change: {
    readonly [Name in keyof Search]?: Search[Name] | undefined;
  },
) => void;

/** The filters in the address and a function that updates them. */
export function useFilters<Search extends object>(read: (given: object) => Search) {
  const navigate = useNavigate();
  const filters = read(useSearch({ strict: false }));
  const apply: ApplyFilters<Search> = (change) =>
    void navigate({ to: '.', search: (old: object) => read({ ...old, ...change }) as never, replace: true });
  return [filters, apply] as const;
}
