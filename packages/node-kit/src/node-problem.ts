import type { Message } from '@millrace/messages';
import { ExplainedError } from '@millrace/messages/explained-error';

/** A setting, a credential or the data makes it impossible to run a node. It fails with `code`, and nothing is tried again. */
export class NodeProblem extends ExplainedError {
  readonly code: string;
  constructor(explanation: Message, code = 'invalid_config') {
    super(explanation);
    this.code = code;
  }
}
