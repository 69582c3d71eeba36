import { isJsonArray, isJsonObject, type JsonObject } from '@millrace/engine';

/** One delivery attempt. */
export interface Delivery {
  readonly attempt: number;
  /** RFC 3339. */
  readonly at: string;
  /** The status of the receiver's response; null when there was none. */
  readonly status: number | null;
  readonly duration_ms: number;
  readonly error: string | null;
}

/** The log of the previous attempts; empty for the first. */
export function deliveriesOf(output: JsonObject | null): readonly JsonObject[] {
  const list = output?.deliveries;
  return list !== undefined && isJsonArray(list) ? list.filter(isJsonObject) : [];
}

/** When it was first tried, in RFC 3339; undefined in the first attempt. */
export function firstTriedAt(deliveries: readonly JsonObject[]): string | undefined {
  const at = deliveries[0]?.at;
  return typeof at === 'string' ? at : undefined;
}
