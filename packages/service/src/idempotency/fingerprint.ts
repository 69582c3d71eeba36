import { createHash } from 'node:crypto';
import {
  canonicalJson,
  canonicalWork,
  isJsonArray,
  type JsonObject,
  type JsonValue,
  Meter,
} from '@millrace/engine';
import { finishInTurns } from '@millrace/runtime/turns';
import type { Turns } from '../turns.ts';

/** SHA-256 of a body's canonical JSON: member order and whitespace don't matter. No body means `{}`. */
export function fingerprintOf(body: JsonValue | undefined): Buffer {
  return createHash('sha256')
    .update(canonicalJson(body ?? {}))
    .digest();
}

/** {@link fingerprintOf}, in turns if the body is large. */
export async function fingerprintOfRequest(body: JsonValue | undefined): Promise<Buffer> {
  const text = await finishInTurns(canonicalWork(body ?? {}, new Meter()));
  return createHash('sha256').update(text).digest();
}

/** The same for an object with a long list as a member. */
export async function fingerprintInTurns(
  organisationId: number,
  body: JsonObject,
  turns: Turns,
): Promise<Buffer> {
  const hash = createHash('sha256');
  hash.update('{');
  for (const [place, name] of Object.keys(body).sort(byCodeUnit).entries()) {
    hash.update(`${place === 0 ? '' : ','}${JSON.stringify(name)}:`);
    const value = body[name] as JsonValue;
    if (!isJsonArray(value)) {
      hash.update(canonicalJson(value));
      continue;
    }
    hash.update('[');
    await turns.forEach(organisationId, value, (item, index) => {
      hash.update(`${index === 0 ? '' : ','}${canonicalJson(item)}`);
    });
    hash.update(']');
  }
  return hash.update('}').digest();
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : 1;
}
