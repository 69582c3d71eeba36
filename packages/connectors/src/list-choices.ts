import {
  type Failure,
  failure,
  isJsonArray,
  type JsonObject,
  type JsonValue,
  listPaths,
  type NodeContext,
  parseTemplates,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { isBlank, scalarText } from '@millrace/node-kit/values';
import { ask } from './ask.ts';
import type { Connector, ConnectorList, ListSource, Operation } from './format.ts';
import { fetchItems } from './pages.ts';
import { fillIn, fillInText, TemplateBudget } from './templates.ts';

/** A value that a setting can take. */
export interface Choice {
  readonly value: string;
  readonly label: string;
  /** What it belongs to, in a list of several services, servers or the like. */
  readonly group: string | null;
}

export interface Choices {
  readonly kind: 'choices';
  readonly choices: readonly Choice[];
  /** False: the service has more. */
  readonly isComplete: boolean;
}

export interface ChoicesRequest {
  readonly connector: Connector;
  readonly list: ConnectorList;
  /** The settings of the node that the list reads. */
  readonly settings: JsonObject;
  readonly credentialId: number;
  /** Of the whole list. */
  readonly maxRequests: number;
  readonly maxItems: number;
}

/** What asking a service needs. Nothing that lists has files. */
export type ListContext = Pick<NodeContext, 'http' | 'credentials' | 'signal' | 'inTurns' | 'now'>;

const REQUEST_MS = 15_000;

/** What a list's templates read besides settings of the node. */
const LIST_VALUES: readonly string[] = ['item', 'group', 'output'];

/** The settings of nodes among names that a list's templates can read, each once. */
export function settingsAmong(names: readonly string[]): readonly string[] {
  return [...new Set(names)].filter((name) => !LIST_VALUES.includes(name));
}

/** The settings of the node that a list reads. */
export function settingsReadBy(list: ConnectorList): readonly string[] {
  const { template } = parseTemplates(list as JsonValue);
  const names = listPaths(template).flatMap(({ names: [root, name = ''] }) =>
    root === 'args' ? [name] : [],
  );
  return settingsAmong(names);
}

/**
 * Lists the values that a setting can take, by the operations that the connector's file names.
 * @throws NodeProblem, ServiceError, RenderLimitError
 */
export async function listChoices(request: ChoicesRequest, context: ListContext): Promise<Choices | Failure> {
  const { connector, list, settings: given } = request;
  const settings = Object.fromEntries(settingsReadBy(list).map((name) => [name, given[name] ?? null]));
  const missing = Object.entries(settings).find(([, value]) => isBlank(value));
  if (missing !== undefined) {
    return failure('setting_missing', message('nodes.connector_list_needs', { name: missing[0] }));
  }
  const run = { request, context, budget: new TemplateBudget(), requestsLeft: request.maxRequests };
  const choices: Choice[] = [];
  const groups = list.groups === undefined ? null : await itemsOf(run, list.groups, settings);
  if (groups?.kind === 'failure') return groups;
  let isComplete = groups?.isComplete ?? true;
  for (const group of groups?.items ?? [null]) {
    if (run.requestsLeft === 0 || choices.length >= request.maxItems) {
      isComplete = false;
      break;
    }
    const read = { ...settings, group };
    const found = await itemsOrFallback(run, list, read);
    if (found.kind === 'failure') return found;
    isComplete &&= found.isComplete;
    for (const item of found.items) {
      const args = { ...read, item };
      if (list.when !== undefined && fillIn(list.when, args, run.budget) !== true) continue;
      const value = scalarText(fillIn(list.value, args, run.budget));
      if (value === undefined || value === '') continue;
      const label = fillInText(list.label, args, run.budget);
      const { groups: of } = list;
      choices.push({
        ...{ value, label },
        group: of === undefined ? null : fillInText(of.label, { ...settings, item: group }, run.budget),
      });
    }
  }
  const { title: service } = connector;
  if (choices.length === 0 && !isComplete) {
    return failure('invalid_response', message('nodes.connector_no_list', { service }));
  }
  return { kind: 'choices', choices, isComplete };
}

interface Run {
  readonly request: ChoicesRequest;
  readonly context: ListContext;
  readonly budget: TemplateBudget;
  requestsLeft: number;
}

interface Items {
  readonly kind: 'items';
  readonly items: readonly JsonValue[];
  readonly isComplete: boolean;
}

/** What the service refuses with some settings, it may list with fewer. */
async function itemsOrFallback(run: Run, list: ConnectorList, read: JsonObject): Promise<Items | Failure> {
  const found = await itemsOf(run, list, read);
  const { fallback } = list;
  if (found.kind === 'items' || found.retryable || fallback === undefined || run.requestsLeft === 0)
    return found;
  return itemsOf(run, { ...list, settings: { ...list.settings, ...fallback } }, read);
}

async function itemsOf(run: Run, source: ListSource, read: JsonObject): Promise<Items | Failure> {
  const { connector, credentialId, maxItems } = run.request;
  const operation = operationOf(connector, source.operation);
  const own = fillIn(source.settings ?? {}, read, run.budget) as JsonObject;
  const args = { ...defaultsOf(operation), ...own };
  const call = {
    ...{ connector, operation, args, budget: run.budget },
    limits: { credential_id: credentialId, timeout_ms: REQUEST_MS },
    // Nothing is changed, so a repetition needs no key.
    idempotencyKey: '',
  };
  const context = {
    ...run.context,
    get files(): never {
      throw new Error('what lists has no files');
    },
    get documents(): never {
      throw new Error('what lists answers with JSON');
    },
  };
  const { pagination } = operation;
  if (pagination !== undefined) {
    const bounds = { limit: maxItems, maxPages: run.requestsLeft };
    const fetched = await fetchItems(call, pagination, bounds, (page) => {
      run.requestsLeft -= 1;
      return ask(call, context, page);
    });
    if (fetched.kind === 'failure') return fetched;
    return { kind: 'items', items: fetched.items.slice(0, maxItems), isComplete: !fetched.hasMore };
  }
  run.requestsLeft -= 1;
  const answer = await ask(call, context);
  if (answer.kind === 'failure') return answer;
  const output = fillIn(operation.output ?? null, { ...args, response: answer.response }, run.budget);
  const items = fillIn(source.items ?? '{{args.output.items}}', { ...read, output }, run.budget);
  if (isJsonArray(items)) {
    return { kind: 'items', items: items.slice(0, maxItems), isComplete: items.length <= maxItems };
  }
  return failure('invalid_response', message('nodes.connector_no_list', { service: connector.title }));
}

/** The newest version of an operation. */
export function newestOperation({ operations }: Connector, id: string): Operation | undefined {
  return operations.find((each) => each.id === id && each.replaced !== true);
}

/** The linter has seen that there is one. */
function operationOf(connector: Connector, id: string): Operation {
  const found = newestOperation(connector, id);
  if (found === undefined) throw new Error(`the connector ${connector.id} has no operation ${id}`);
  return found;
}

function defaultsOf({ settings }: Operation): JsonObject {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, { default: value }]) =>
      value === undefined ? [] : [[name, value as JsonValue]],
    ),
  );
}
