import { type Flow, type JsonValue, tryParseJson, type Work } from '@millrace/engine';
import { extend, literal, TOP, template } from '@millrace/importer-kit/refs';
import type { Report } from '@millrace/importer-kit/report';
import { Unmappable } from '@millrace/importer-kit/unmappable';
import { asText, objectOf, textOf } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import { DirectStep, type Made, Maker } from '../direct/maker.ts';
import { remembered } from '../direct/memory.ts';
import { modelSettings } from '../direct/model.ts';
import { type Origin, type OriginLink, reported } from '../direct/origin.ts';
import { directSettings } from '../direct/settings.ts';
import { CATEGORY, type FlowiseFlow, type FlowisePart } from './read.ts';
import { setContext } from './text.ts';
import { toolFor } from './tools.ts';

/** A flow of components: what belongs to each chain or agent, by input. */
interface Components {
  readonly parts: readonly FlowisePart[];
  readonly report: Report;
}

const CHAIN = /^(?:llmChain|conversationChain)$/;
const AGENT =
  /^(?:toolAgent|conversationalAgent|reactAgentChat|reactAgentLLM|openAIFunctionAgent|openAIToolAgent|mistralAIToolAgent|xmlAgent|csvAgent)$/;

/** Whether a component answers: all others are parts of those that do. */
function answers({ type, data }: Origin): boolean {
  return (
    CHAIN.test(type) ||
    AGENT.test(type) ||
    /^(?:Chains|Agents|Engine|Multi Agents|Sequential Agents)$/.test(asText(data[CATEGORY]))
  );
}

/** Makes a workflow of a flow of components: a chat, and a node for each chain or agent. */
export function* componentFlow({ flow, parts }: FlowiseFlow, report: Report): Work<Flow | null> {
  const chains = [...flow.origins.values()].filter(answers);
  const [first] = chains;
  if (first === undefined) return null;
  const start: Origin = {
    id: '(start)',
    name: 'Start',
    type: '(start)',
    parent: null,
    position: { x: Math.min(...chains.map(({ position }) => position.x)) - 300, y: first.position.y },
    data: {},
    isHelper: true,
  };
  const origins = new Map([
    [start.id, start],
    ...chains.map((each): [string, Origin] => [each.id, { ...each, parent: null }]),
  ]);
  const links = linksBetween(chains, parts, start);
  const shared = { parts, report };
  const makers = Object.fromEntries(
    chains.map(({ type }) => [type, (step: DirectStep) => make(step, shared, flow.origins)]),
  );
  const maker = new Maker({ ...flow, origins, links }, { report, product: 'flowise', makers });
  setContext({ maker, isChat: true, keys: [], history: null });
  const step = new DirectStep(maker, start, TOP, []);
  const trigger = step.add('trigger.chat', { title: flow.name.slice(0, 200) || 'Chat' });
  maker.made.set(
    start.id,
    step.result((names) => extend('trigger.data', names)),
  );
  yield* maker.makeLevel([start], TOP);
  for (const origin of flow.origins.values()) if (!report.has(origin.name)) dropUnused(origin, parts, report);
  const ends = chains
    .filter(({ id }) => maker.isEnd(id))
    .flatMap(({ id }) => maker.made.get(id)?.read([], step.at(TOP)) ?? []);
  const config = maker.builder.config(trigger);
  if (config !== undefined && ends.length > 0) config.answer = template(ends.slice(0, 15).join(' ?? '));
  for (const end of chains) report.approximated(reported(end), message('import.chat_flow'));
  yield 1;
  return maker.builder.flow(directSettings(maker));
}

/** Parts of what couldn't be made are lost with it. */
function dropUnused(origin: Origin, parts: readonly FlowisePart[], report: Report): void {
  if (parts.some(({ part }) => part === origin.id))
    report.dropped(reported(origin), message('import.part_of_dropped'));
}

/** A chain follows another if a part of it takes what the other answers. */
function linksBetween(chains: readonly Origin[], parts: readonly FlowisePart[], start: Origin): OriginLink[] {
  const ids = new Set(chains.map(({ id }) => id));
  const takers = Map.groupBy(parts, ({ part }) => part);
  const links: OriginLink[] = [];
  for (const { id } of chains) {
    const open = [id];
    const seen = new Set(open);
    for (let at = open.pop(); at !== undefined; at = open.pop())
      for (const { of } of takers.get(at) ?? []) {
        if (ids.has(of)) links.push({ from: id, handle: '', to: of });
        else if (!seen.has(of)) {
          seen.add(of);
          open.push(of);
        }
      }
  }
  const follows = new Set(links.map(({ to }) => to));
  for (const { id } of chains) if (!follows.has(id)) links.push({ from: start.id, handle: '', to: id });
  return links;
}

function make(step: DirectStep, components: Components, origins: ReadonlyMap<string, Origin>): Made {
  const { type, id } = step.origin;
  const partsAt = (input: string) =>
    components.parts
      .filter((each) => each.of === id && each.input === input)
      .flatMap(({ part }) => origins.get(part) ?? []);
  if (!CHAIN.test(type) && !AGENT.test(type)) throw new Unmappable(message('import.unknown_node'));
  if (type === 'csvAgent') throw new Unmappable(message('import.no_documents'));
  const used: Origin[] = [];
  const [model] = partsAt('model');
  if (model === undefined) throw new Unmappable(message('import.no_model'));
  used.push(model);
  const settings = modelSettings(
    step,
    textOf(model.data.customModelName) ?? textOf(model.data.modelName) ?? textOf(model.data.model),
    model.data,
  );
  const [prompt] = [...partsAt('prompt'), ...partsAt('chatPromptTemplate')];
  if (prompt !== undefined) used.push(prompt);
  const [memory] = partsAt('memory');
  const [parser] = partsAt('outputParser');
  if (parser !== undefined && !/^(?:csv|list)/i.test(parser.type))
    throw new Unmappable(message('import.unknown_operation', { operation: parser.type }));
  const tools = AGENT.test(type)
    ? partsAt('tools').map((tool) => [tool, toolFor(step, tool.type, tool.data)] as const)
    : [];
  used.push(...tools.map(([tool]) => tool), ...(parser === undefined ? [] : [parser]));
  const asked = promptOf(step, prompt);
  const system =
    asked.system || textValue(step.data.systemMessagePrompt ?? step.data.systemMessage, new Map());
  const most = Number(step.data.maxIterations);
  const node = step.add(AGENT.test(type) ? 'ai.agent' : 'ai.generate', {
    ...settings,
    ...(system === '' ? {} : { system }),
    prompt: asked.prompt,
    ...(memory === undefined ? {} : memoryOf(step, components, memory)),
    ...(tools.length === 0 ? {} : { tools: tools.map(([, tool]) => tool) }),
    ...(AGENT.test(type) && Number.isInteger(most) && most >= 1 && most <= 50 ? { max_steps: most } : {}),
    ...(parser === undefined ? {} : { output: 'json', schema: LIST }),
  });
  for (const each of used) components.report.mapped(reported(each));
  const answer = parser === undefined ? `nodes.${node}.output.text` : `nodes.${node}.output.json.items`;
  return step.result((names) => extend(answer, names));
}

const LIST = {
  type: 'object',
  properties: { items: { type: 'array', items: { type: 'string' } } },
  required: ['items'],
};

/** Memories that keep a conversation in Flowise itself; others name a database. */
const PLAIN_MEMORY = /^(?:buffer|bufferWindow|conversationSummary|conversationSummaryBuffer)Memory$/;

/** The settings of a chain or an agent whose model remembers the chat. */
function memoryOf(step: DirectStep, { parts, report }: Components, memory: Origin) {
  if (PLAIN_MEMORY.test(memory.type)) report.mapped(reported(memory));
  else report.approximated(reported(memory), message('import.memory_kept_here'));
  const users = parts.filter(({ input }) => input === 'memory').length;
  return remembered(step, {
    part: users === 1 ? null : step.origin.id,
    turns: memory.type === 'bufferWindowMemory' ? Number(memory.data.k ?? 4) : null,
    isSummarised: memory.type.startsWith('conversationSummary'),
  });
}

/** The instructions and the question of a prompt, whose `{names}` are values. */
function promptOf(
  step: DirectStep,
  prompt: Origin | undefined,
): { readonly system: string; readonly prompt: string } {
  if (prompt === undefined) return { system: '', prompt: '{{trigger.data.message}}' };
  const values = valuesOf(step, prompt.data.promptValues);
  const text = (value: JsonValue | undefined) => textValue(value, values);
  if (prompt.type === 'promptTemplate') return { system: '', prompt: text(prompt.data.template) };
  if (prompt.type === 'fewShotPromptTemplate')
    throw new Unmappable(message('import.unknown_operation', { operation: prompt.type }));
  return {
    system: text(prompt.data.systemMessagePrompt),
    prompt: text(prompt.data.humanMessagePrompt) || '{{trigger.data.message}}',
  };
}

/** What the names of a prompt stand for. */
function valuesOf(step: DirectStep, given: JsonValue | undefined): ReadonlyMap<string, string> {
  const value = typeof given === 'string' ? tryParseJson(given) : given;
  return new Map(
    Object.entries(objectOf(value)).map(([name, each]) => [name, reference(step, asText(each))] as const),
  );
}

/** A text with `{{question}}` or `{{llmChain_0.data.instance}}` in it. */
function reference(step: DirectStep, text: string): string {
  let at = 0;
  let made = '';
  for (const found of text.matchAll(/\{\{\s*([\w$.]+?)\s*\}\}/g)) {
    const [first = ''] = (found[1] ?? '').split('.');
    const path = first === 'question' ? 'trigger.data.message' : step.read(first, []);
    made += literal(text.slice(at, found.index)) + template(path);
    at = found.index + found[0].length;
  }
  return made + literal(text.slice(at));
}

/** A text in which `{name}` is a value: of the prompt, or else the question. `{{` and `}}` are braces. */
function textValue(value: JsonValue | undefined, values: ReadonlyMap<string, string>): string {
  const text = asText(value);
  return text
    .split(/(\{\{|\}\}|\{\w+\})/)
    .map((part) => {
      const [, name] = /^\{(\w+)\}$/.exec(part) ?? [];
      if (name !== undefined)
        return (
          values.get(name) ??
          (name === 'chat_history' || name === 'agent_scratchpad' ? '' : '{{trigger.data.message}}')
        );
      return part === '{{' ? '\\{{' : part;
    })
    .join('')
    .replaceAll('\\{{\\{{', '\\{{');
}
