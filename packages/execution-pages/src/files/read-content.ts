import type { ExecutionFile } from '@millrace/admin-api';
import { ApiProblem, addressOf } from '@millrace/ui/api/client.ts';

/** The beginning of a file. */
export interface FilePart {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether the file has more. */
  readonly isCut: boolean;
}

/** @throws ApiProblem; TypeError when the service is unreachable */
export async function readContent(
  { org, executionId }: { readonly org: number; readonly executionId: number },
  { id, size }: ExecutionFile,
  maxBytes: number,
  signal: AbortSignal,
): Promise<FilePart> {
  // An empty file has no range.
  if (size === 0) return { bytes: new Uint8Array(), isCut: false };
  const params = { org, execution: executionId, file: id };
  const response = await fetch(addressOf('GET /orgs/:org/executions/:execution/files/:file', { params }), {
    headers: { range: `bytes=0-${Math.min(size, maxBytes) - 1}` },
    signal,
  });
  if (!response.ok) {
    throw new ApiProblem(response.status, (await response.json().catch(() => ({}))) as object);
  }
  return { bytes: new Uint8Array(await response.arrayBuffer()), isCut: size > maxBytes };
}
