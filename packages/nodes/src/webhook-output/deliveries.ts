import { isJsonArray, isJsonObject, type JsonObject } from '@millrace/engine';

/** One attempt to deliver. */
export interface Delivery {
  readonly attempt: number;
  /** RFC 3339. */
  readonly at: string;
  /** What the receiver answered with; null when it gave no answer. */
  readonly status: number | null;
  readonly duration_ms: number;
  readonly error: string | null;
}

/** The log that the attempts before this one kept; empty for the first. */
export function deliveriesOf(output: JsonObject | null): readonly JsonObject[] {
  const list = output?.deliveries;
  return list !== undefined && isJsonArray(list) ? list.filter(isJsonObject) : [];
}

/** When it was first tried, in RFC 3339; undefined in the first attempt. */
export function firstTriedAt(deliveries: readonly JsonObject[]): string | undefined {
  const at = deliveries[0]?.at;
  return typeof at === 'string' ? at : undefined;
}
