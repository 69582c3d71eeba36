import '@millrace/ui/i18n/parts/pasting.ts';
import type { ResponseBody } from '@millrace/admin-api';
import {
  type Flow,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '@millrace/engine';
import { call } from '@millrace/ui/api/client.ts';
import { notifyDone, notifyFailure, notifyWarning } from '@millrace/ui/components/notify.ts';
import type { TFunction } from 'i18next';
import type { FlowClip } from '../model/editor-state.ts';
import { isCurl } from '../model/pasted-text.ts';
import type { EditorStore } from '../model/store.ts';
import { takeCurl } from './take-curl.ts';

/** Adds nodes where the paste was meant to go. @returns their ids */
export type Paste = (clip: FlowClip) => readonly string[];

/** Pastes a curl command or a URL as a node; a secret in it is offered as a credential. */
export function pasteRequest(store: EditorStore, t: TFunction, text: string, paste: Paste): void {
  const read = isCurl(text) ? takeCurl(text, t) : { config: { url: text.trim() }, credential: null };
  if (read === null) return;
  const node = { id: 'http_request', type: 'http.request', data: { config: read.config } };
  const [nodeId] = paste({ nodes: [node], edges: [] });
  if (nodeId !== undefined && read.credential !== null) {
    store.getState().offerCredential({ nodeId, credential: read.credential });
  }
}

type Imported = ResponseBody<'POST /orgs/:org/import'>;

/** Pastes what a workflow of another product, or some of its nodes, becomes, and says what differs. */
export async function pasteImported(
  store: EditorStore,
  t: TFunction,
  json: string,
  org: number,
  paste: Paste,
): Promise<void> {
  try {
    const content = asWorkflow(parseJson(json));
    const imported = await call('POST /orgs/:org/import', {
      params: { org },
      body: { content: content as never },
    });
    const [first, ...others] = imported.workflows;
    if (first === undefined) {
      notifyWarning(t('pasting.nothingRuns'));
      return;
    }
    pasteFlow(store, first.flow_data as Flow, paste);
    report(imported, others.length, t);
  } catch (error) {
    notifyFailure(error as Error);
  }
}

/** A list of nodes, or one node, as a workflow. */
function asWorkflow(value: JsonValue): JsonObject {
  if (isJsonObject(value) && (value.nodes !== undefined || value.workflow !== undefined)) return value;
  return { nodes: isJsonArray(value) ? value : [value], connections: {} };
}

/** On an empty canvas the whole workflow; else its nodes, without the trigger if there is one already. One step for undo. */
function pasteFlow(store: EditorStore, flow: Flow, paste: Paste): void {
  const { nodes, nodeTypes, replaceFlow, settings } = store.getState();
  if (nodes.length === 0 && (settings.notes ?? []).length === 0) {
    replaceFlow(flow);
    return;
  }
  const isTrigger = ({ type }: { readonly type: string }) => nodeTypes.get(type)?.kind === 'trigger';
  const kept = nodes.some(isTrigger) ? flow.nodes.filter((node) => !isTrigger(node)) : flow.nodes;
  const ids = new Set(kept.map(({ id }) => id));
  const { notes } = (flow.settings ?? {}) as Pick<FlowClip, 'notes'>;
  paste({
    nodes: kept,
    edges: flow.edges.filter(({ source, target }) => ids.has(source) && ids.has(target)),
    ...(notes === undefined || notes.length === 0 ? {} : { notes }),
  });
}

function report({ nodes }: Imported, otherCount: number, t: TFunction): void {
  const named = (outcome: Imported['nodes'][number]['outcome']) =>
    nodes.filter((node) => node.outcome === outcome).map(({ node }) => node);
  const [differing, dropped] = [named('approximated'), named('dropped')];
  notifyDone(t('pasting.imported', { count: nodes.length }));
  const warnings = [
    ...(differing.length === 0 ? [] : [t('pasting.differs', { nodes: namesIn(differing, t) })]),
    ...(dropped.length === 0 ? [] : [t('pasting.dropped', { nodes: namesIn(dropped, t) })]),
    ...(otherCount === 0 ? [] : [t('pasting.otherTriggers', { count: otherCount })]),
  ];
  for (const warning of warnings) notifyWarning(warning);
}

/** As many as a notification has room for; the canvas marks what each node still needs. */
const MAX_NAMES = 8;

function namesIn(all: readonly string[], t: TFunction): string {
  const names = all.slice(0, MAX_NAMES).join(t('common.listSeparator'));
  const count = all.length - MAX_NAMES;
  return count > 0 ? t('pasting.more', { names, count }) : names;
}
