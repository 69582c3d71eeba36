import type { FlowProblem } from '@millrace/admin-api';
import { isMessage } from '@millrace/messages';
import { presentMessage } from '@millrace/messages/english';
import { type Said, translateMessage } from '@millrace/ui/i18n/translate-message.ts';

/** What is wrong, without the node's name: for places that show which node it is. */
export function withoutNode({ message, key, params }: FlowProblem): Said {
  const problem = key === 'flow.at_node' ? params.problem : undefined;
  return isMessage(problem) ? presentMessage(problem) : { message, key, params };
}

/** The same in the reader's language, as a sentence. */
export function problemText(problem: FlowProblem): string {
  const text = translateMessage(withoutNode(problem));
  return text.charAt(0).toUpperCase() + text.slice(1);
}
