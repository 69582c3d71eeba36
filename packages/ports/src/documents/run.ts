import { stringifyJson } from '@millrace/engine';
import { message } from '@millrace/messages';
import { convertDocument } from './convert.ts';
import { DocumentFault } from './fault.ts';
import type { DocumentJob, DocumentOutcome } from './protocol.ts';

/** Bytes of memory per character of a document, roughly: HTML takes the most. */
const BYTES_PER_CHARACTER = 40;

/** Runs in a thread. Whoever started it must be ready to kill it: a conversion has no time limit of its own. */
export function runDocumentJob({ text, conversion, maxOutputBytes }: DocumentJob): {
  readonly outcome: DocumentOutcome;
  readonly usedBytes: number;
} {
  const usedBytes = text.length * BYTES_PER_CHARACTER;
  try {
    const result = stringifyJson(convertDocument(text, conversion));
    if (Buffer.byteLength(result) <= maxOutputBytes) {
      return { outcome: { kind: 'value', text: result }, usedBytes: usedBytes + 2 * result.length };
    }
    throw new DocumentFault(
      'document_output_too_large',
      message('ports.document_result_too_large', { max: maxOutputBytes }),
    );
  } catch (error) {
    if (!(error instanceof DocumentFault)) throw error;
    const { code, explanation } = error;
    return { outcome: { kind: 'failure', code, message: explanation }, usedBytes };
  }
}
