import type { Message } from '@millrace/messages';
import { DocumentFault } from '../documents/fault.ts';
import type { Host } from './host.ts';

/**
 * The content of the first file, for work that needs all of it at once.
 * @throws DocumentFault `document_too_complex` with `tooLarge` if it has more than `maxBytes`
 */
export async function readWhole(
  host: Host,
  maxBytes: number,
  tooLarge: Message,
): Promise<Uint8Array<ArrayBuffer>> {
  const size = host.inputs[0]?.size ?? 0;
  if (size > maxBytes) throw new DocumentFault('document_too_complex', tooLarge);
  const whole = new Uint8Array(size);
  let at = 0;
  for await (const piece of host.read(0)) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  return whole;
}
