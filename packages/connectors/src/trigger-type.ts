import {
  type JsonObject,
  type JsonValue,
  type NodeDefinition,
  type NodeExample,
  success,
} from '@millrace/engine';
import { checkedNode, type FormLayout } from '@millrace/node-kit/define';
import { pollingProperties } from '@millrace/node-kit/polling-settings';
import type { TProperties } from 'typebox';
import type { Connector, ConnectorTrigger, PollExchange } from './format.ts';
import {
  credentialOf,
  exampleCredential,
  familyOf,
  isOwn,
  ownProperties,
  synonymsOf,
  titleOf,
  versionOf,
} from './node-type.ts';
import { type PolledTrigger, pollTrigger, readDetails } from './poll-trigger.ts';
import { TemplateBudget } from './templates.ts';

/** Settings that every trigger has besides its own. */
export const TRIGGER_SETTINGS = ['credential_id', ...Object.keys(pollingProperties)];
/** What templates of triggers read besides settings. */
export const TRIGGER_VALUES = ['now', 'since', 'since_s', 'cursor', 'item', 'items', 'response'] as const;

/** The node type of a trigger: in the family of triggers, under its service. */
export function triggerTypeOf(
  connector: Pick<Connector, 'id' | 'own'>,
  trigger: Pick<ConnectorTrigger, 'id' | 'version'>,
): string {
  return `trigger.${familyOf(connector, '')}${connector.id}.${trigger.id}${versionOf(trigger)}`;
}

/** The node of a trigger, which polls. */
export function triggerNodeOf(connector: Connector, trigger: ConnectorTrigger): NodeDefinition {
  const polledOf = (config: object): PolledTrigger => {
    const { credential_id, interval_s: _interval, existing, ...args } = config as JsonObject;
    return {
      connector,
      trigger,
      credentialId: Number(credential_id ?? 0),
      startsExisting: existing === 'start',
      args,
      budget: new TemplateBudget(),
    };
  };
  return checkedNode<TProperties>({
    type: triggerTypeOf(connector, trigger),
    title: titleOf(connector.title, trigger.title),
    description: trigger.description,
    icon: connector.icon,
    kind: 'trigger',
    isInterpreted: isOwn(connector),
    properties: { ...credentialOf(connector), ...ownProperties(connector, trigger), ...pollingProperties },
    required: [...Object.keys(credentialOf(connector)), ...trigger.required],
    form: formOf(connector, trigger),
    synonyms: synonymsOf(connector, trigger),
    examples: trigger.exchanges.flatMap((exchange) => examplesOf(connector, exchange)),
    polling: {
      poll: (config, context) => pollTrigger(polledOf(config), context),
      ...(trigger.detail === undefined
        ? {}
        : { complete: (config, context, items) => readDetails(polledOf(config), context, items) }),
    },
    run: (_config, context) => success({ data: context.triggerData }),
  });
}

function formOf(connector: Connector, { settings, sections = [] }: ConnectorTrigger): FormLayout {
  const hidden = sections.flatMap(({ fields }) => fields);
  const main = Object.keys(settings).filter((name) => !hidden.includes(name));
  return {
    main: [...Object.keys(credentialOf(connector)), ...main, ...Object.keys(pollingProperties)],
    sections,
  };
}

/** What a recorded poll found, as the data of an execution. */
function examplesOf(
  connector: Connector,
  { title, config, items = [] }: PollExchange,
): readonly NodeExample[] {
  const [first] = items;
  if (first === undefined) return [];
  const data: JsonValue = first.data ?? null;
  return [
    {
      title,
      config: { ...exampleCredential(connector), ...config },
      trigger: data,
      expect: { output: { data } },
    },
  ];
}
