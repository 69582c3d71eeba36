import '@millrace/ui/i18n/parts/setting.ts';
import '@millrace/ui/i18n/parts/forms.ts';
import '@millrace/ui/i18n/parts/pasting.ts';
import type { ResponseBody } from '@millrace/admin-api';
import type { FlowClip } from '@millrace/editor-model/editor-state.ts';
import { isDifyText } from '@millrace/editor-model/foreign-product.ts';
import { originalOf } from '@millrace/editor-model/original-content.ts';
import { isCurl } from '@millrace/editor-model/pasted-text.ts';
import type { EditorStore } from '@millrace/editor-model/store.ts';
import { type Flow, type JsonObject, parseJson } from '@millrace/engine';
import { call } from '@millrace/ui/api/client.ts';
import { notifyDone, notifyFailure, notifyWarning } from '@millrace/ui/components/notify.ts';
import type { TFunction } from 'i18next';
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
  text: string,
  org: number,
  paste: Paste,
): Promise<void> {
  try {
    const content = isDifyText(text) ? text : originalOf(parseJson(text));
    const imported = await call('POST /orgs/:org/import', {
      params: { org },
      body: { content: content as never },
    });
    const [first] = imported.workflows;
    if (first === undefined) {
      notifyWarning(t('pasting.nothingRuns'));
      return;
    }
    const own = new Set(imported.nodes.map(({ node }) => node));
    const leftOut = pasteFlow(store, first.flow_data as Flow, own, paste);
    report(imported, t);
    warnOfSettings(leftOut, t);
  } catch (error) {
    notifyFailure(error as Error);
  }
}

/**
 * On an empty canvas the whole workflow; else its nodes. Copied nodes get a trigger that isn't theirs, which is left out if there is one already.
 * One step for undo.
 * @param own the names of the nodes that were copied
 * @returns names of the settings that the workflow doesn't take
 */
function pasteFlow(
  store: EditorStore,
  flow: Flow,
  own: ReadonlySet<string>,
  paste: Paste,
): readonly string[] {
  const { nodes, nodeTypes, replaceFlow, settings } = store.getState();
  if (nodes.length === 0 && (settings.notes ?? []).length === 0) {
    replaceFlow(flow);
    return [];
  }
  const isTrigger = ({ type }: { readonly type: string }) => nodeTypes.get(type)?.kind === 'trigger';
  const isOwn = flow.nodes.some((node) => isTrigger(node) && own.has(node.data?.label ?? ''));
  const kept = isOwn || !nodes.some(isTrigger) ? flow.nodes : flow.nodes.filter((node) => !isTrigger(node));
  const ids = new Set(kept.map(({ id }) => id));
  const { notes } = (flow.settings ?? {}) as Pick<FlowClip, 'notes'>;
  paste({
    nodes: kept,
    edges: flow.edges.filter(({ source, target }) => ids.has(source) && ids.has(target)),
    ...(notes === undefined || notes.length === 0 ? {} : { notes }),
  });
  return namesOfOther(flow.settings ?? {}, settings);
}

/** The settings of a pasted workflow: taken over if the canvas was empty, else named, since the workflow keeps its own. */
export function pasteSettings(store: EditorStore, t: TFunction, pasted: JsonObject, wasEmpty: boolean): void {
  const { settings, changeSettings } = store.getState();
  if (wasEmpty) changeSettings((own) => ({ ...own, ...pasted }));
  else warnOfSettings(namesOfOther(pasted, settings), t);
}

/** The pasted settings that differ from the workflow's own; notes are pasted like nodes. */
function namesOfOther(pasted: object, own: object): readonly string[] {
  const ownText = (name: string) => JSON.stringify((own as { readonly [name: string]: unknown })[name]);
  return Object.entries(pasted)
    .filter(([name, value]) => name !== 'notes' && JSON.stringify(value) !== ownText(name))
    .map(([name]) => name);
}

function warnOfSettings(names: readonly string[], t: TFunction): void {
  if (names.length === 0) return;
  const titles = names.map((name) => t(`setting.${name}` as 'setting.timezone', { defaultValue: name }));
  notifyWarning(t('pasting.ownSettings', { settings: titles.join(t('common.listSeparator')) }));
}

/** Products by the names that the service has for them. */
const PRODUCTS: { readonly [name: string]: string } = { dify: 'Dify', flowise: 'Flowise' };

function report({ product, nodes }: Imported, t: TFunction): void {
  const named = (outcome: Imported['nodes'][number]['outcome']) =>
    nodes.filter((node) => node.outcome === outcome).map(({ node }) => node);
  const [differing, dropped] = [named('approximated'), named('dropped')];
  notifyDone(t('pasting.imported', { count: nodes.length, product: PRODUCTS[product] ?? product }));
  const warnings = [
    ...(differing.length === 0 ? [] : [t('pasting.differs', { nodes: namesIn(differing, t) })]),
    ...(dropped.length === 0 ? [] : [t('pasting.dropped', { nodes: namesIn(dropped, t) })]),
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
