import type { Message } from '@millrace/messages';
import { ExplainedError } from '@millrace/messages/explained-error';
/**
 * - `secret_key_missing`: something is encrypted with a key this process doesn't have
 * - `secret_key_file`: the key file can't be used
 * - `secret_damaged`: the ciphertext was modified, or belongs to another record
 * - `nothing_to_rotate`, `rotation_running`, `rotation_incomplete`
 */
export type SecretErrorCode =
  | 'secret_key_missing'
  | 'secret_key_file'
  | 'secret_damaged'
  | 'nothing_to_rotate'
  | 'rotation_running'
  | 'rotation_incomplete';

/** Secrets can't be encrypted or decrypted. The message is for the operator, names keys by id and contains no secret. */
export class SecretError extends ExplainedError {
  override readonly name = 'SecretError';
  readonly code: SecretErrorCode;

  constructor(code: SecretErrorCode, explanation: Message) {
    super(explanation);
    this.code = code;
  }
}
