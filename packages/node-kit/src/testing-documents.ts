import { type DocumentService, ServiceError } from '@millrace/engine';
import { convertDocument } from '@millrace/ports/documents/convert';
import { DocumentFault } from '@millrace/ports/documents/fault';

/** Converts the documents of our own node tests: as the service does, without a thread and without limits. */
export const directDocuments: DocumentService = {
  async convert({ text, conversion }) {
    try {
      return convertDocument(text, conversion);
    } catch (error) {
      if (!(error instanceof DocumentFault)) throw error;
      throw new ServiceError(error.code, error.explanation);
    }
  },
};
