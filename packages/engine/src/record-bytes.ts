import type { JsonValue } from '@millrace/values/json';
import { jsonBytes } from '@millrace/values/json-size';
import type { NodeRecord } from './execution.ts';

/** UTF-8 bytes of what a record contains of a node's data, as JSON text. Its other members have a limited size. */
export function recordBytes(record: NodeRecord): number {
  if ('output' in record) return record.output === null ? 0 : bytesOf(record.output);
  return record.status === 'running' && record.previousOutput !== undefined
    ? bytesOf(record.previousOutput)
    : 0;
}

/** Outputs have been checked before they become part of a record. */
function bytesOf(value: JsonValue): number {
  const bytes = jsonBytes(value, Number.POSITIVE_INFINITY);
  return typeof bytes === 'number' ? bytes : 0;
}
