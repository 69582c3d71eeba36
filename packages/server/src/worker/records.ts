import type { NodeRecord } from '@millrace/engine';

/** The latest record of each node, at the place of its first. */
export function foldRecords(chunks: readonly { readonly records: readonly NodeRecord[] }[]): NodeRecord[] {
  const byNode = new Map<string, NodeRecord>();
  for (const { records } of chunks) for (const record of records) byNode.set(record.nodeId, record);
  return [...byNode.values()];
}
