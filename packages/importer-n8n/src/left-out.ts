import { isJsonArray, isJsonObject, type JsonValue } from '@millrace/engine';
import type { Report } from '@millrace/importer-kit/report';
import { message } from '@millrace/messages';
import { type N8nNode, objectOf } from './read.ts';

/** Where n8n keeps the settings of a node that one adds if need be. */
const COLLECTIONS = [
  'options',
  'additionalFields',
  'additionalOptions',
  'otherOptions',
  'updateFields',
  'filters',
];

/** Settings of their own that some nodes have. */
const ALONE = ['sort'];

/** Settings without which a node here does the same. */
const NEEDLESS = new Set([
  // An advertisement in the text.
  'appendAttribution',
  'includeLinkToWorkflow',
]);

/** By kind: the default, what the interface keeps for itself, and what a node here does in another way. */
const NEEDLESS_IN: { readonly [kind: string]: readonly string[] | undefined } = {
  chatTrigger: ['loadPreviousSession'],
  formTrigger: ['path'],
  if: ['ignoreCase', 'looseTypeValidation'],
  filter: ['ignoreCase', 'looseTypeValidation'],
  switch: ['ignoreCase', 'looseTypeValidation', 'renameFallbackOutput'],
  textClassifier: ['fallback'],
  set: ['includeBinary'],
  googleSheets: ['useAppend', 'locationDefine', 'handlingExtraData'],
  slack: ['mrkdwn'],
  openAi: ['detail'],
};

/** As many names are said. */
const MAX_NAMES = 10;

/** For models, Millrace has its own rules for these. */
const NEEDLESS_IN_MODELS = ['timeout', 'maxRetries'];

/** Reports the settings of a node that were added to it and that nothing of what was made for it has asked for. */
export function reportLeftOut(report: Report, node: N8nNode): void {
  const alone = ALONE.filter((name) => isSet(node.parameters[name] ?? null) && !isAsked(node, name));
  const added = COLLECTIONS.flatMap((collection) =>
    Object.entries(objectOf(node.parameters[collection]))
      .filter(
        ([name, value]) =>
          isSet(value ?? null) && !isNeedless(node.kind, name) && !isAsked(node, `${collection}.${name}`),
      )
      .map(([name]) => name),
  );
  const names = [...alone, ...added];
  if (names.length === 0) return;
  const listed = names.slice(0, MAX_NAMES).join(', ');
  const { name, type } = node;
  report.approximated({ node: name, type }, message('import.settings_left_out', { names: listed }));
}

function isNeedless(kind: string, name: string): boolean {
  // A tool has the settings of the node that it is.
  const of = kind.replace(/Tool$/, '');
  const needless = of.startsWith('lm')
    ? NEEDLESS_IN_MODELS
    : Object.hasOwn(NEEDLESS_IN, of) && NEEDLESS_IN[of];
  return NEEDLESS.has(name) || (needless || []).includes(name);
}

/** Whether something has asked for a setting, a part of it, or all settings beside it. */
function isAsked({ asked }: N8nNode, path: string): boolean {
  const [collection = ''] = path.split('.');
  return asked.has(collection) || [...asked].some((each) => each === path || each.startsWith(`${path}.`));
}

/** Whether a setting says something: what is off or empty says nothing. */
function isSet(value: JsonValue): boolean {
  if (value === null || value === false || value === '') return false;
  if (isJsonArray(value)) return value.length > 0;
  return !isJsonObject(value) || Object.keys(value).length > 0;
}
