import { type DocumentService, Meter, parseWork, ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Caller } from '@millrace/runtime/node-services';
import { finishInTurns } from '@millrace/runtime/turns';
import type { CodePool } from './code/pool.ts';

export interface DocumentDeps {
  /** The threads of the sandbox: how much runs at once, and whose turn it is, is decided in one place. */
  readonly pool: CodePool;
  /** Maximum UTF-8 bytes of a result's JSON text. */
  readonly maxOutputBytes: number;
}

/**
 * Converts documents of strangers in the threads that run code. A thread has a heap of its own and is killed at the time limit, so a
 * document that takes too much harms no other work.
 */
export function createDocumentService({
  pool,
  maxOutputBytes,
}: DocumentDeps): (caller: Caller) => DocumentService {
  return ({ organisationId }) => ({
    async convert({ text, conversion, timeoutMs }, signal) {
      const job = { kind: 'document', text, conversion, timeoutMs, maxOutputBytes } as const;
      const { outcome } = await pool.run(job, organisationId, signal);
      if (outcome.kind === 'value') return finishInTurns(parseWork(outcome.text, new Meter()));
      if (outcome.kind === 'aborted') {
        throw new ServiceError('aborted', message('ports.conversion_stopped'), { retryable: true });
      }
      throw new ServiceError(outcome.code, outcome.message);
    },
  });
}
