import type { Message } from '@millrace/messages';
import { ExplainedError } from '@millrace/messages/explained-error';

export type DocumentFailure =
  | 'invalid_data'
  | 'invalid_config'
  | 'document_too_complex'
  | 'document_timeout'
  | 'document_memory'
  | 'document_output_too_large';

/** Why a document can't be converted. */
export class DocumentFault extends ExplainedError {
  readonly code: DocumentFailure;
  constructor(code: DocumentFailure, explanation: Message) {
    super(explanation);
    this.code = code;
  }
}
