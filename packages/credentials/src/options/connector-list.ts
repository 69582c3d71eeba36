import type { FoundList } from '@millrace/connectors/connectors';
import { listChoices } from '@millrace/connectors/list-choices';
import { type CredentialService, type JsonObject, RenderLimitError } from '@millrace/engine';
import { inTurnsWithin, TooExpensiveError } from '@millrace/runtime/drive';
import type { Holder } from '@millrace/runtime/main-thread';
import { type Listing, MAX_ITEMS, MAX_PAGES, type OptionList, optionList, unlisted } from './option-list.ts';

/** Which list, and the settings of the node that it reads. */
export interface ConnectorOptions extends FoundList {
  readonly settings: JsonObject;
}

/** No execution and no node: somebody fills in a form. */
const HOLDER: Holder = { executionId: 0, nodeId: '' };
/** Of reading the responses of one list. */
const MAX_STEPS = 10_000_000;

/**
 * What a connector's list has for a credential.
 * @throws ServiceError with the code of the connector's failure; NodeProblem for a credential that doesn't match
 */
export async function listOfConnector(
  { connector, list, settings }: ConnectorOptions,
  credentialId: number,
  credentials: CredentialService,
  { http, signal }: Pick<Listing<'bearer'>, 'http' | 'signal'>,
): Promise<OptionList> {
  const limits = { maxRequests: MAX_PAGES, maxItems: MAX_ITEMS + 1 };
  const found = await listChoices(
    { connector, list, settings, credentialId, ...limits },
    {
      ...{ http, credentials, signal, now: () => Date.now() },
      inTurns: inTurnsWithin({ holder: HOLDER, maxSteps: MAX_STEPS, isAborted: () => signal.aborted }),
    },
  ).catch((error: unknown) => {
    // A file may ask too much of its templates, a service may answer with too much.
    const isTooMuch = error instanceof RenderLimitError || error instanceof TooExpensiveError;
    throw isTooMuch ? unlisted(error.code, error.explanation) : error;
  });
  if (found.kind === 'failure') throw unlisted(found.code, found.message);
  return optionList(found.choices, found.isComplete);
}
