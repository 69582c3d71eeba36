/** Something somebody had open. */
export interface RecentItem {
  readonly kind: 'workflow' | 'execution';
  readonly id: number;
  readonly title: string;
}

const KEY = 'millrace.recent';
const MOST = 12;

interface Owner {
  readonly userId: number;
  readonly org: number;
}

/** What somebody had open in an organisation, latest first, in this browser. */
export function readRecent({ userId, org }: Owner): readonly RecentItem[] {
  return readAll()[nameOf(userId, org)] ?? [];
}

/** Remembers that something was opened, until whoever did signs out. */
export function noteRecent({ userId, org }: Owner, item: RecentItem): void {
  const all = readAll();
  const name = nameOf(userId, org);
  const others = (all[name] ?? []).filter(({ kind, id }) => kind !== item.kind || id !== item.id);
  const title = item.title.slice(0, 255);
  store({ ...all, [name]: [{ ...item, title }, ...others].slice(0, MOST) });
}

export function forgetRecent(): void {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Without storage there is nothing to forget.
  }
}

const nameOf = (userId: number, org: number) => `${userId} ${org}`;

type Stored = { readonly [name: string]: readonly RecentItem[] };

function readAll(): Stored {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    if (typeof value !== 'object' || value === null) return {};
    return Object.fromEntries(
      Object.entries(value).map(([name, items]) => [name, Array.isArray(items) ? items.filter(isItem) : []]),
    );
  } catch {
    return {};
  }
}

function isItem(value: unknown): value is RecentItem {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, id, title } = value as Partial<RecentItem>;
  return (
    (kind === 'workflow' || kind === 'execution') && Number.isSafeInteger(id) && typeof title === 'string'
  );
}

function store(all: Stored): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    // Full, or switched off: nothing is recent then.
  }
}
