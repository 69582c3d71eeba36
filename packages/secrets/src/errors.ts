import type { Message } from '@millrace/messages';
import { ExplainedError } from '@millrace/messages/explained-error';
/**
 * - `secret_key_missing`: something is encrypted with a key this process does not have
 * - `secret_key_file`: the file of keys cannot be used as it is
 * - `secret_damaged`: the ciphertext was changed, or belongs to another record
 * - `nothing_to_rotate`, `rotation_running`, `rotation_incomplete`
 */
export type SecretErrorCode =
  | 'secret_key_missing'
  | 'secret_key_file'
  | 'secret_damaged'
  | 'nothing_to_rotate'
  | 'rotation_running'
  | 'rotation_incomplete';

/** Secrets cannot be encrypted or decrypted. What it says is for the operator, names keys by their id and holds no secret. */
export class SecretError extends ExplainedError {
  override readonly name = 'SecretError';
  readonly code: SecretErrorCode;

  constructor(code: SecretErrorCode, explanation: Message) {
    super(explanation);
    this.code = code;
  }
}
