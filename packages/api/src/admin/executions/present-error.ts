import {
  explainFailure,
  type JsonText,
  type NodeError,
  parseJson,
  readError,
  type StoredError,
} from '@millrace/engine';
import { presentMessage } from '@millrace/messages/english';

/** Why a node failed, in a form the page can render in the reader's language. */
export function presentError(error: NodeError) {
  const { code, origin } = error;
  return {
    code,
    ...presentMessage(explainFailure(error)),
    ...(origin === undefined ? {} : { iteration: [...origin.iteration] }),
  };
}

export function presentExecutionError(stored: JsonText<StoredError>) {
  const error = readError(parseJson(stored));
  return { ...presentError(error), node_id: error.nodeId };
}
