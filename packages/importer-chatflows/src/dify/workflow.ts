import {
  type Flow,
  type FlowSettings,
  type JsonObject,
  type JsonValue,
  setOwn,
  type Work,
} from '@millrace/engine';
import { extend, literal, literalValue, quote, TOP, template } from '@millrace/importer-kit/refs';
import { type ImportedWorkflow, Report } from '@millrace/importer-kit/report';
import { arrayOf, asText, objectOf, textOf } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import { DirectStep, type Made, Maker } from '../direct/maker.ts';
import { cleanFlow, type Origin, reported } from '../direct/origin.ts';
import { directSettings } from '../direct/settings.ts';
import { CORE, variablesEntry } from './nodes/core.ts';
import { HTTP } from './nodes/http.ts';
import { KNOWLEDGE } from './nodes/knowledge.ts';
import { LOOPS } from './nodes/loops.ts';
import { MODELS } from './nodes/models.ts';
import { TOOLS } from './nodes/tools.ts';
import { type DifyApp, type DifyVariable, readDify } from './read.ts';
import { constantIn, setContext } from './values.ts';

/** What was made from an app of Dify. */
export interface DifyImport {
  readonly name: string;
  readonly workflows: readonly ImportedWorkflow[];
  readonly report: Report;
}

const MAKERS = { ...CORE, ...HTTP, ...KNOWLEDGE, ...LOOPS, ...MODELS, ...TOOLS };

const STARTS = /^(?:start|trigger-(?:webhook|schedule|plugin)|datasource)$/;

/** Each way to start an app makes a workflow, at most so many. */
const MAX_WORKFLOWS = 20;

/** Makes Millrace workflows from an app of Dify: one for each node that starts it. */
export function* importDify(value: JsonValue): Work<DifyImport> {
  const report = new Report();
  const original = readDify(value);
  const { flow, withSecret } = yield* cleanFlow(original.flow);
  const app = { ...original, flow };
  const starts = [...app.flow.origins.values()].filter(
    ({ type, parent }) => parent === null && STARTS.test(type),
  );
  const workflows: ImportedWorkflow[] = [];
  for (const [index, start] of starts.entries()) {
    if (index >= MAX_WORKFLOWS) {
      report.dropped(reported(start), message('import.too_many_triggers', { max: MAX_WORKFLOWS }));
      continue;
    }
    const name = index === 0 ? app.flow.name : `${app.flow.name}: ${start.name}`;
    workflows.push({ name, flow_data: yield* compile(app, start, report) });
  }
  for (const origin of app.flow.origins.values())
    if (!report.has(origin.name)) report.approximated(reported(origin), message('import.never_runs'));
  for (const origin of withSecret) report.approximated(reported(origin), message('import.secret_removed'));
  for (const { name, type } of app.flow.notes) report.mapped({ node: name, type });
  return { name: app.flow.name, workflows, report };
}

function* compile(app: DifyApp, start: Origin, report: Report): Work<Flow> {
  const maker = new Maker(app.flow, { report, product: 'dify', makers: MAKERS });
  const text = JSON.stringify([...app.flow.origins.values()].map(({ data }) => data));
  const key = maker.builder.reserve(app.flow.name);
  setContext({ app, maker, key });
  report.mapped(reported(start));
  const step = new DirectStep(maker, start, TOP, []);
  const trigger = step.add(...triggerOf(app, step));
  if (app.conversation.length > 0 && /"conversation"|\{\{#conversation\./.test(text))
    loadVariables(step, app.conversation);
  const isAsked = app.isChat && start.type === 'start';
  const begun: Made = step.result((names) => (isAsked ? askedBefore(step, names) : readStart(start, names)));
  maker.made.set(start.id, begun);
  yield 1;
  yield* maker.makeLevel([start], TOP);
  respond(maker, trigger);
  maker.builder.fillEmptyLoops();
  yield 1;
  return maker.builder.flow({ ...directSettings(maker), ...(app.isChat ? {} : inputSchema(start)) });
}

function readStart({ type }: Origin, [name = '', ...rest]: readonly string[]): string | null {
  if (type !== 'trigger-webhook') return extend('trigger.data', [name, ...rest]);
  if (name === '_webhook_raw') return 'trigger.data';
  return extend('trigger.data', [name, ...rest]);
}

/** What an app asks for before the chat: a constant, since a message has nothing but its text. */
function askedBefore(step: DirectStep, [name = '', ...rest]: readonly string[]): string {
  const variable = arrayOf(step.data.variables)
    .map(objectOf)
    .find((each) => each.variable === name);
  step.maker.constants.set(name, literalValue(variable?.default ?? ''));
  step.approximate(message('import.set_constant', { name }));
  return extend('vars', [name, ...rest]);
}

/** The page of a chat, as the app describes it. */
function chatPage({ flow, features }: DifyApp): { [name: string]: JsonValue } {
  const greeting = asText(features.opening_statement).slice(0, 2_000);
  const questions = arrayOf(features.suggested_questions)
    .flatMap((each) => textOf(each) ?? [])
    .filter((each) => each.length <= 200);
  return {
    title: flow.name.slice(0, 200) || 'Chat',
    ...(greeting.trim() === '' ? {} : { greeting }),
    ...(questions.length === 0 ? {} : { suggestions: questions.slice(0, 6) }),
  };
}

/** The trigger that starts the workflow as the original is started. */
function triggerOf(app: DifyApp, step: DirectStep): readonly [string, { [name: string]: JsonValue }] {
  const { type, data } = step.origin;
  if (type === 'trigger-schedule') return ['trigger.schedule', scheduleOf(step, data)];
  if (type === 'trigger-webhook') {
    step.approximate(message('import.webhook_fields'));
    return ['trigger.webhook', {}];
  }
  if (type === 'start' && app.isChat) {
    step.approximate(message('import.chat_app'));
    if (objectOf(app.features.file_upload).enabled === true)
      step.approximate(message('import.chat_no_files'));
    return ['trigger.chat', chatPage(app)];
  }
  if (type !== 'start') step.maker.report.dropped(reported(step.origin), message('import.unknown_trigger'));
  return ['trigger.manual', {}];
}

function scheduleOf(step: DirectStep, data: JsonObject): { [name: string]: JsonValue } {
  const timezone = textOf(data.timezone) ?? 'UTC';
  const written = textOf(data.cron_expression);
  if (written !== null) return { schedule: { type: 'cron', cron: written }, timezone };
  const visual = objectOf(data.visual_config);
  const [, hours = '0', minutes = '0', half = ''] =
    /^(\d{1,2}):(\d{2})\s*([AP]M)?$/i.exec(asText(visual.time)) ?? [];
  const hour = (Number(hours) % (half === '' ? 24 : 12)) + (/pm/i.test(half) ? 12 : 0);
  const at = `${Number(minutes)} ${hour}`;
  const days = arrayOf(visual.weekdays).flatMap((day) => textOf(day)?.slice(0, 3).toLowerCase() ?? []);
  const dates = arrayOf(visual.monthly_days)
    .map(asText)
    .filter((day) => /^\d+$/.test(day));
  const cron = {
    hourly: `${Number(visual.on_minute ?? 0) || 0} * * * *`,
    weekly: `${at} * * ${days.join(',') || '0'}`,
    monthly: `${at} ${dates.join(',') || '1'} * *`,
  }[textOf(data.frequency) ?? 'daily'];
  if (arrayOf(visual.monthly_days).includes('last')) step.approximate(message('import.several_times'));
  return { schedule: { type: 'cron', cron: cron ?? `${at} * * *` }, timezone };
}

/** The variables of the conversation with what they have been set to before. */
function loadVariables(step: DirectStep, variables: readonly DifyVariable[]): void {
  const kept = step.add(
    'data.store',
    { operation: 'get', key: variablesEntry(step) },
    { suffix: 'kept variables' },
  );
  const values: { [name: string]: JsonValue } = {};
  for (const { name, value } of variables) {
    const path = extend(`nodes.${kept}.output.value`, [name]);
    const constant = constantIn(value) ?? `(${quote(JSON.stringify(value))} | parse_json)`;
    const written = `${path} ?? ${constant}`;
    if (written.length > MAX_CONSTANT) step.approximate(message('import.member_missing', { member: name }));
    setOwn(values, name, template(written.length > MAX_CONSTANT ? path : written));
  }
  const id = step.add('core.set', { values }, { suffix: 'variables' });
  for (const { name } of variables)
    step.maker.variables.write(`conversation ${name}`, extend(`nodes.${id}.output`, [name]), TOP);
}

/** A template takes no longer ones. */
const MAX_CONSTANT = 9_000;

/** Answers the visitor with everything that was answered on the way. */
function respond(maker: Maker, trigger: string): void {
  const config = maker.builder.config(trigger);
  if (config === undefined || maker.builder.typeOf(trigger) !== 'trigger.chat') return;
  const answers = [...maker.made].flatMap(([id, made]) => {
    const isAnswer = maker.flow.origins.get(id)?.type === 'answer' && made.scope === TOP;
    return isAnswer ? [made.exit.id === '' ? null : made] : [];
  });
  const end = new DirectStep(maker, { ...([...maker.flow.origins.values()][0] as Origin) }, TOP, []);
  end.isAtEnd = true;
  const texts = answers.flatMap((made) => made?.read(['answer'], end) ?? []);
  if (texts.length > 0) config.answer = texts.map((text) => template(text)).join('');
}

/** What an app asks for becomes the schema of the input, from which the form to start it is made. */
function inputSchema(start: Origin): FlowSettings {
  const variables = arrayOf(start.data.variables)
    .map((each) => objectOf(objectOf(each).variable === undefined ? Object.values(objectOf(each))[0] : each))
    .filter(({ variable }) => textOf(variable) !== null);
  if (variables.length === 0) return {};
  const properties: { [name: string]: JsonValue } = {};
  for (const each of variables) setOwn(properties, textOf(each.variable) ?? '', fieldOf(each));
  const required = variables
    .filter((each) => each.required === true)
    .map((each) => textOf(each.variable) ?? '');
  return { input_schema: { type: 'object', properties, ...(required.length === 0 ? {} : { required }) } };
}

function fieldOf(each: JsonObject): JsonValue {
  const title = textOf(each.label);
  const named = title === null ? {} : { title: literal(title) };
  const most = Number(each.max_length);
  const limit = Number.isInteger(most) && most > 0 ? { maxLength: most } : {};
  switch (textOf(each.type) ?? 'text-input') {
    case 'number':
      return { type: 'number', ...named };
    case 'checkbox':
      return { type: 'boolean', ...named };
    case 'select': {
      const options = arrayOf(each.options).filter((option) => typeof option === 'string');
      return options.length === 0 ? { type: 'string', ...named } : { enum: [...new Set(options)], ...named };
    }
    case 'file':
    case 'file-list':
    case 'json_object':
    case 'json':
      return named;
    default:
      return { type: 'string', ...named, ...limit };
  }
}
