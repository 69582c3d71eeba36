import { type Flow, type JsonObject, type JsonValue, tryParseJson, type Work } from '@millrace/engine';
import { extend, literalValue, TOP, template } from '@millrace/importer-kit/refs';
import { type ImportedWorkflow, Report } from '@millrace/importer-kit/report';
import { arrayOf, asText, objectOf, textOf } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import { keepTurn } from '../direct/conversation.ts';
import { DirectStep, Maker } from '../direct/maker.ts';
import { cleanFlow, type Origin, reported } from '../direct/origin.ts';
import { directSettings } from '../direct/settings.ts';
import { componentFlow } from './components.ts';
import { withLoops } from './loops.ts';
import { AGENTFLOW } from './nodes.ts';
import { type FlowiseFlow, readFlowise } from './read.ts';
import { plainText, setContext } from './text.ts';

/** What was made from a flow of Flowise. */
export interface FlowiseImport {
  readonly name: string;
  readonly workflows: readonly ImportedWorkflow[];
  readonly report: Report;
}

/** Makes a Millrace workflow from a flow of Flowise. */
export function* importFlowise(value: JsonValue): Work<FlowiseImport> {
  const report = new Report();
  const original = readFlowise(value);
  const { flow, withSecret } = yield* cleanFlow(original.flow);
  const given = { ...original, flow };
  const { name } = given.flow;
  const flow_data = given.isAgentflow ? yield* compile(given, report) : yield* componentFlow(given, report);
  for (const origin of given.flow.origins.values())
    if (!report.has(origin.name)) report.approximated(reported(origin), message('import.never_runs'));
  for (const origin of withSecret) report.approximated(reported(origin), message('import.secret_removed'));
  for (const note of given.flow.notes) report.mapped({ node: note.name, type: note.type });
  return { name, workflows: flow_data === null ? [] : [{ name, flow_data }], report };
}

function* compile(given: FlowiseFlow, report: Report): Work<Flow | null> {
  const start = [...given.flow.origins.values()].find(({ type }) => type === 'startAgentflow');
  if (start === undefined) return null;
  const maker = new Maker(withLoops(given.flow), { report, product: 'flowise', makers: AGENTFLOW });
  const state = stateOf(start);
  const input = textOf(start.data.startInputType) ?? 'chatInput';
  const isChat = !OTHER_INPUTS.has(input);
  const context = { maker, isChat, keys: [...state.keys()], history: null as string | null };
  setContext(context);
  report.mapped(reported(start));
  const step = new DirectStep(maker, start, TOP, []);
  const trigger = step.add(...triggerOf(step, input, given.flow.name));
  const remembers = isChat && [...given.flow.origins.values()].some(({ data }) => readsHistory(data));
  const key = `${maker.builder.reserve(given.flow.name)}/turns/{{trigger.data.session_id}}`;
  if (remembers) {
    const id = step.add('data.store', { operation: 'get', key }, { suffix: 'conversation' });
    context.history = `nodes.${id}.output.value`;
  }
  if (state.size > 0) {
    const values = Object.fromEntries(
      [...state.values()].map((value, index) => [`v${index + 1}`, literalValue(value)]),
    );
    const id = step.add('core.set', { values }, { suffix: 'state' });
    for (const [index, name] of context.keys.entries())
      maker.variables.write(`state ${name}`, `nodes.${id}.output.v${index + 1}`, TOP);
  }
  maker.made.set(
    start.id,
    step.result((names) => extend('trigger.data', names)),
  );
  yield 1;
  yield* maker.makeLevel([start], TOP);
  answer(maker, trigger, { history: context.history, key, isChat });
  maker.builder.fillEmptyLoops();
  yield 1;
  return maker.builder.flow(directSettings(maker));
}

/** Ways to start a flow other than by a message of a chat. */
const OTHER_INPUTS = new Set(['formInput', 'webhookTrigger', 'scheduleInput']);

/** Whether a text of a node contains the conversation. */
function readsHistory(data: JsonObject): boolean {
  return JSON.stringify(data).includes('chat_history');
}

/** What the state begins with. */
function stateOf(start: Origin): ReadonlyMap<string, JsonValue> {
  const given = start.data.startState;
  const list = typeof given === 'string' ? (tryParseJson(given) ?? []) : given;
  return new Map(
    arrayOf(list)
      .map(objectOf)
      .flatMap(({ key, value }): [string, JsonValue][] => {
        const name = textOf(key);
        return name === null ? [] : [[name, typeof value === 'string' ? plainText(value) : (value ?? '')]];
      }),
  );
}

function triggerOf(
  step: DirectStep,
  input: string,
  name: string,
): readonly [string, { [name: string]: JsonValue }] {
  const { data } = step.origin;
  switch (input) {
    case 'formInput':
      return ['trigger.form', formOf(step, data)];
    case 'webhookTrigger':
      step.approximate(message('import.webhook_fields'));
      return ['trigger.webhook', {}];
    case 'scheduleInput': {
      const cron = textOf(data.scheduleCronExpression);
      if (cron === null) step.approximate(message('import.polled_at_interval'));
      return [
        'trigger.schedule',
        {
          schedule: { type: 'cron', cron: cron ?? '0 0 * * *' },
          timezone: textOf(data.scheduleTimezone) ?? 'UTC',
        },
      ];
    }
    default:
      step.approximate(message('import.chat_flow'));
      return ['trigger.chat', { title: name.slice(0, 200) || 'Chat' }];
  }
}

const FIELDS: { readonly [type: string]: string } = {
  string: 'text',
  number: 'number',
  boolean: 'checkbox',
  options: 'choice',
};

function formOf(step: DirectStep, data: JsonObject): { [name: string]: JsonValue } {
  const given = arrayOf(data.formInputTypes).map(objectOf);
  const fields = given.flatMap((each): JsonValue[] => {
    const name = (textOf(each.name) ?? '').replaceAll(/[{}"\\\p{Cc}]/gu, '').replace(/^[_\s]+|\s+$/g, '');
    const type = FIELDS[textOf(each.type) ?? 'string'] ?? 'text';
    const choices = arrayOf(each.addOptions).flatMap((option) => textOf(objectOf(option).option) ?? []);
    if (name === '') return [];
    return [
      {
        label: textOf(each.label) ?? name,
        name,
        type,
        ...(type === 'choice' ? { choices: [...new Set(choices)] } : {}),
      },
    ];
  });
  step.approximate(message('import.form_flow'));
  return {
    title: plainText(asText(data.formTitle)) || step.origin.name,
    ...(textOf(data.formDescription) === null
      ? {}
      : { description: plainText(asText(data.formDescription)) }),
    fields,
  };
}

/** Answers the visitor of a chat with what the last node of each branch gives, and keeps the turn. */
function answer(
  maker: Maker,
  trigger: string,
  {
    history,
    key,
    isChat,
  }: { readonly history: string | null; readonly key: string; readonly isChat: boolean },
): void {
  const config = maker.builder.config(trigger);
  if (!isChat || config === undefined) return;
  const ends = [...maker.made].flatMap(([id, made]) => {
    const origin = maker.flow.origins.get(id);
    const isEnd = origin !== undefined && maker.isEnd(id) && made.scope === TOP && made.exit.id !== '';
    return isEnd ? [{ origin, made }] : [];
  });
  const texts: string[] = [];
  for (const { origin, made } of ends) {
    const step = new DirectStep(maker, origin, TOP, [made.exit]);
    const path = made.read([], step.at(TOP));
    if (path === null) continue;
    texts.push(path);
    if (history !== null)
      keepTurn(step, { history, key, question: '{{trigger.data.message}}', answer: template(path) });
  }
  if (texts.length > 0) config.answer = template(texts.slice(0, MAX_ENDS).join(' ?? '));
}

/** As many as are named one after the other. */
const MAX_ENDS = 15;
