import { isJsonArray, isJsonObject, type JsonValue } from '@millrace/engine';
import { message } from '@millrace/messages';
import { objectOf } from './read.ts';
import type { Step } from './step.ts';

/** Where n8n keeps the settings of a node that one adds if need be. */
const COLLECTIONS = [
  'options',
  'additionalFields',
  'additionalOptions',
  'otherOptions',
  'updateFields',
  'filters',
];

/** Settings without which a node here does the same. */
const NEEDLESS = new Set([
  // An advertisement in the text.
  'appendAttribution',
  'includeLinkToWorkflow',
]);

/** By kind: the default, what the interface keeps for itself, and what a node here does in another way. */
const NEEDLESS_IN: { readonly [kind: string]: readonly string[] | undefined } = {
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

/** Reports the settings of a node that were added to it and that nothing of what was made for it has asked for. */
export function reportLeftOut(step: Step): void {
  const names = COLLECTIONS.flatMap((collection) =>
    Object.entries(objectOf(step.node.parameters[collection]))
      .filter(
        ([name, value]) =>
          isSet(value ?? null) && !isNeedless(step, name) && !step.hasRead(`${collection}.${name}`),
      )
      .map(([name]) => name),
  );
  if (names.length > 0)
    step.approximate(message('import.settings_left_out', { names: names.slice(0, MAX_NAMES).join(', ') }));
}

function isNeedless({ node: { kind } }: Step, name: string): boolean {
  return (
    NEEDLESS.has(name) || (Object.hasOwn(NEEDLESS_IN, kind) && NEEDLESS_IN[kind]?.includes(name) === true)
  );
}

/** Whether a setting says something: what is off or empty says nothing. */
export function isSet(value: JsonValue): boolean {
  if (value === null || value === false || value === '') return false;
  if (isJsonArray(value)) return value.length > 0;
  return !isJsonObject(value) || Object.keys(value).length > 0;
}
