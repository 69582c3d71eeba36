const STORED_UNDER = 'millrace.node-types';
/** More than this would push the categories out of sight. */
const MOST = 5;

/** Types of nodes added last in this browser, the latest first. */
export function recentTypes(storage: Pick<Storage, 'getItem'> = localStorage): readonly string[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(STORED_UNDER) ?? '[]');
    return Array.isArray(stored) ? stored.filter((type) => typeof type === 'string').slice(0, MOST) : [];
  } catch {
    // Blocked, or written by something else: nothing is lost but an order.
    return [];
  }
}

/** Puts a type first. */
export function rememberType(
  type: string,
  storage: Pick<Storage, 'getItem' | 'setItem'> = localStorage,
): void {
  const types = [type, ...recentTypes(storage).filter((each) => each !== type)].slice(0, MOST);
  try {
    storage.setItem(STORED_UNDER, JSON.stringify(types));
  } catch {
    // Blocked or full.
  }
}
