import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { forItem, type Handlers } from '../handler.ts';
import { jsonParam } from '../json-text.ts';
import { arrayOf, asText, type N8nNode, objectOf, textOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';
import { documentTexts, fileText } from './documents.ts';
import { geminiMedia } from './gemini.ts';
import { schemaFor } from './json-schema.ts';
import { defaultModel, modelOptions, partParam } from './parts.ts';
import { openAi } from './providers.ts';
import { agentTools } from './tools.ts';
import { searchConfig, storeOf } from './vectors.ts';

/** Nodes that use language models. @param tools what agents can call as tools */
export function modelNodes(tools: Handlers): Handlers {
  return {
    agent: forItem((step) => agent(step, tools)),
    conversationalAgent: forItem((step) => agent(step, tools)),
    chainLlm: forItem(chain),
    chainSummarization: forItem(summarize),
    chainRetrievalQa: forItem(answerFromTexts),
    informationExtractor: forItem(extractFields),
    textClassifier: forItem(classify, { isRouter: true }),
    sentimentAnalysis: forItem(sentiment, { isRouter: true }),
    openAi: forItem((step) => openAi(step, tools)),
    anthropic: forItem((step) => openAi(step, tools)),
    googleGemini: forItem((step) => geminiMedia(step) ?? openAi(step, tools)),
  };
}

type Config = { [name: string]: JsonValue };

/** The model that is connected, with a credential to be chosen. */
function modelConfig(step: Step): Config {
  const [node, ...others] = step.compiler.partsOf(step.node.name, 'ai_languageModel');
  step.approximate(message('import.choose_model_credential'));
  if (others.length > 0) step.approximate(message('import.one_model'));
  if (node === undefined) throw new Unmappable(message('import.no_model'));
  step.compiler.report.mapped({ node: node.name, type: node.type });
  return { credential_id: 0, ...modelOf(step, node) };
}

function modelOf(step: Step, node: N8nNode): Config {
  const name =
    partParam(step, node, 'model') ?? partParam(step, node, 'modelName') ?? partParam(step, node, 'modelId');
  const plain = typeof name === 'string' ? name.replace(/^models\//, '') : '';
  const maxTokens = ['maxTokens', 'maxOutputTokens', 'maxTokensToSample']
    .map((each) => partParam(step, node, `options.${each}`))
    .find((each) => each !== undefined);
  return {
    model: plain === '' ? defaultModel(node.kind) : plain,
    ...modelOptions(step, partParam(step, node, 'options.temperature'), maxTokens),
  };
}

/** What is asked: the node's own text, or what a chat trigger brought. */
function promptOf(step: Step): JsonValue {
  const own = step.raw('text') ?? step.raw('prompt');
  const type = step.text(
    'promptType',
    step.node.kind === 'chainLlm' && step.node.version < 1.4 ? 'define' : 'auto',
  );
  const isGiven =
    own !== undefined && own !== '' && (type === 'define' || type === 'auto' || step.node.version < 1.6);
  return isGiven ? step.value(own) : step.expression(`$json.${unwrittenPrompt(step)}`);
}

/** The member that is asked if no prompt was entered: earlier versions read other ones, of items that no chat brought. */
function unwrittenPrompt({ node: { kind, version }, input }: Step): string {
  if (input === null || input.path.startsWith('trigger')) return 'chatInput';
  if (version < 1.1) return 'input';
  return version < (kind === 'chainLlm' ? 1.3 : 1.2) ? 'chat_input' : 'chatInput';
}

/** A connected parser makes the answer JSON that fits its schema. */
function structured(step: Step): Config | null {
  const parsers = step.compiler.partsOf(step.node.name, 'ai_outputParser');
  for (const parser of parsers) {
    step.compiler.report.mapped({ node: parser.name, type: parser.type });
    if (parser.kind === 'outputParserAutofixing') {
      for (const inner of step.compiler.partsOf(parser.name, 'ai_outputParser')) {
        step.compiler.report.mapped({ node: inner.name, type: inner.type });
        return { output: 'json', schema: schemaOf(step, inner) };
      }
      for (const model of step.compiler.partsOf(parser.name, 'ai_languageModel'))
        step.compiler.report.mapped({ node: model.name, type: model.type });
      continue;
    }
    if (parser.kind === 'outputParserItemList')
      return {
        output: 'json',
        schema: {
          type: 'object',
          properties: { items: { type: 'array', items: { type: 'string' } } },
          required: ['items'],
        },
      };
    return { output: 'json', schema: schemaOf(step, parser) };
  }
  return null;
}

function schemaOf(step: Step, parser: N8nNode): JsonValue {
  const manual = parser.parameters.inputSchema ?? parser.parameters.jsonSchema;
  if (manual !== undefined) {
    const schema = jsonParam(step, manual);
    if (schema !== undefined && isJsonObject(schema))
      return 'properties' in schema || 'type' in schema ? schema : schemaFor(schema);
    throw new Unmappable(message('import.not_json', { parameter: 'inputSchema' }));
  }
  const example = jsonParam(step, parser.parameters.jsonSchemaExample ?? '{ "output": "text" }');
  return schemaFor(example ?? {});
}

/** Nodes that keep a conversation only while n8n runs, as far as its author can tell; others name a database. */
const PLAIN_MEMORY = /^memory(?:BufferWindow|Manager|Buffer)$/;

/** The settings of a node whose model remembers the conversation. */
function memoryOf(step: Step): Config {
  const [memory] = step.compiler.partsOf(step.node.name, 'ai_memory');
  if (memory === undefined) return {};
  if (PLAIN_MEMORY.test(memory.kind)) step.compiler.report.mapped({ node: memory.name, type: memory.type });
  else step.compiler.approximate(memory, message('import.memory_kept_here'));
  const custom = textOf(memory.parameters.sessionKey);
  const isCustom =
    memory.parameters.sessionIdType === 'customKey' || (custom !== null && memory.version < 1.2);
  const session = isCustom && custom !== null ? step.value(custom) : step.expression('$json.sessionId');
  const turns = Number(memory.parameters.contextWindowLength ?? 5);
  return {
    memory_key: typeof session === 'string' ? session : JSON.stringify(session),
    memory_turns: Number.isInteger(turns) && turns > 0 ? Math.min(turns, 50) : 5,
  };
}

function agent(step: Step, callable: Handlers): readonly Out[] {
  const prompt = promptOf(step);
  const system = step.param('options.systemMessage', '');
  const parsed = structured(step);
  const tools = agentTools(step, callable);
  const steps = Number(step.raw('options.maxIterations') ?? 10);
  const config: Config = {
    ...modelConfig(step),
    ...(system === '' ? {} : { system }),
    prompt,
    ...passedImages(step),
    ...parsed,
    ...tools,
    ...(Number.isInteger(steps) && steps >= 1 && steps <= 50 ? { max_steps: steps } : {}),
  };
  return ask(step, 'ai.agent', config, parsed !== null);
}

/** The images of its item, which n8n shows to an agent with tools unless told otherwise. */
function passedImages(step: Step): Config {
  const { kind, version } = step.node;
  const isToolsAgent =
    step.text('agent', version < 1.7 ? 'conversationalAgent' : 'toolsAgent') === 'toolsAgent';
  if (kind !== 'agent' || !isToolsAgent || step.raw('options.passthroughBinaryImages') === false) return {};
  const paths = [...new Set(Object.values(step.input?.files ?? {}))];
  const known = paths.filter((path) => step.compiler.readerOf(path) === undefined);
  // What is fetched only where it is named is not fetched for an agent that may not need it.
  if (known.length < paths.length) step.approximate(message('import.agent_images'));
  if (known.length === 0) return {};
  const id = step.add(
    'core.code',
    {
      code: "return input.files.filter((file) => file?.type?.startsWith('image/'));",
      input: { files: known.map(template) },
    },
    { suffix: 'images' },
  );
  return { files: template(`nodes.${id}.output.result`) };
}

function ask(step: Step, type: string, given: Config, isJson: boolean): readonly Out[] {
  const id = step.add(type, { ...given, ...memoryOf(step) });
  const shape = { output: [isJson ? 'json' : 'text'], text: ['text'], response: ['text'] };
  return [step.one(`nodes.${id}.output`, shape)];
}

function chain(step: Step): readonly Out[] {
  const prompt = promptOf(step);
  const messages = arrayOf(step.raw('messages.messageValues')).map(objectOf);
  const system = messages
    .filter(({ type }) => type === undefined || /System/.test(asText(type)))
    .map(({ message: text }) => asText(step.value(text ?? '')));
  const asks = messages.filter(({ type }) => type !== undefined && !/System/.test(asText(type)));
  const files = imagesOf(step, asks);
  const others = asks
    .filter(({ messageType }) => !isImage(messageType))
    .map(({ message: text }) => asText(step.value(text ?? '')));
  const parsed = structured(step);
  const asked =
    others.length === 0
      ? prompt
      : [...others, typeof prompt === 'string' ? prompt : JSON.stringify(prompt)].join('\n\n');
  const config = {
    ...modelConfig(step),
    ...(system.length === 0 ? {} : { system: system.join('\n\n') }),
    prompt: asked,
    ...(files.length === 0 ? {} : { files }),
    ...parsed,
  };
  return ask(step, 'ai.generate', config, parsed !== null);
}

function isImage(messageType: JsonValue | undefined): boolean {
  return messageType === 'imageBinary' || messageType === 'imageUrl';
}

/** The images among the messages that are files of the item. */
function imagesOf(step: Step, messages: readonly JsonObject[]): readonly string[] {
  const known = step.input?.files ?? {};
  const images = messages.filter(({ messageType }) => isImage(messageType));
  const names = images.flatMap(({ messageType, binaryImageDataKey }) => {
    const name = textOf(binaryImageDataKey) ?? 'data';
    return messageType === 'imageBinary' && Object.hasOwn(known, name) ? [name] : [];
  });
  if (names.length < images.length) step.approximate(message('import.no_images'));
  return names.map((name) => template(step.file(name)));
}

function summarize(step: Step): readonly Out[] {
  const mode = step.text('operationMode', 'nodeInputJson');
  const own =
    step.raw('options.summarizationMethodAndPrompts.values.prompt') ??
    step.raw('options.summarizationMethodAndPrompts.values.combineMapPrompt');
  const item = summarised(step, mode);
  step.approximate(message('import.summarised_at_once'));
  const system =
    typeof own === 'string'
      ? step.value(own.replaceAll('{text}', ''))
      : 'Summarise the text in a few sentences.';
  const id = step.add('ai.generate', { ...modelConfig(step), system, prompt: item });
  return [
    step.one(`nodes.${id}.output`, {
      'response.text': ['text'],
      'output.text': ['text'],
      response: ['text'],
    }),
  ];
}

/** What is summarised: the item, its file, or what loaders read. */
function summarised(step: Step, mode: string): JsonValue {
  if (mode === 'nodeInputJson') return step.item();
  if (mode === 'nodeInputBinary')
    return fileText(step, 'auto', step.text('options.binaryDataKey', 'data') || 'data');
  const texts = documentTexts(step);
  return texts.length === 1 ? (texts[0] ?? '') : texts.map(asText).join('\n\n');
}

/** Finds texts for a question, and lets a model answer by them. */
function answerFromTexts(step: Step): readonly Out[] {
  const [retriever] = step.compiler.partsOf(step.node.name, 'ai_retriever');
  const store = retriever === undefined ? undefined : storeOf(step, retriever);
  if (retriever === undefined || store === undefined)
    throw new Unmappable(message('import.unknown_operation', { operation: retriever?.kind ?? 'retriever' }));
  if (retriever.kind !== 'retrieverVectorStore')
    step.compiler.approximate(retriever, message('import.plain_search'));
  const written = step.raw('query');
  const question = written === undefined ? promptOf(step) : step.value(written);
  const found = step.add('ai.vectors', searchConfig(step, store, question, retriever.parameters.topK), {
    suffix: 'texts',
  });
  const texts = template(`nodes.${found}.output.matches | map: "text" | join: "\\n\\n"`);
  const own = asText(step.param('options.systemPromptTemplate', ''));
  const system = own.includes('{context}') ? own : `${own === '' ? BY_TEXTS : own}\n\n{context}`;
  const id = step.add('ai.generate', {
    ...modelConfig(step),
    system: system.replace('{context}', () => texts),
    prompt: question,
  });
  return [step.one(`nodes.${id}.output`, { response: ['text'], 'response.text': ['text'], text: ['text'] })];
}

const BY_TEXTS = "Answer by these texts. If they don't contain the answer, say that you don't know.";

function extractFields(step: Step): readonly Out[] {
  const own = step.param('options.systemPromptTemplate', '');
  const id = step.add('ai.extract', {
    ...modelConfig(step),
    text: step.param('text', ''),
    ...(own === '' ? {} : { system: own }),
    ...wantedFields(step),
  });
  return [step.one(`nodes.${id}.output`, { output: ['json'] })];
}

/** The fields to read, or the schema they are given by. */
function wantedFields(step: Step): Config {
  const kind = step.text('schemaType', 'fromAttributes');
  if (kind === 'fromAttributes') {
    const attributes = arrayOf(step.raw('attributes.attributes')).map(objectOf);
    const fields = attributes.map((each, index) => fieldOf(step, each, index));
    const names = fields.map(({ name }) => name);
    const isNameable = names.every((name, index) => FIELD_NAME.test(name) && names.indexOf(name) === index);
    return isNameable ? { fields } : { define: 'schema', schema: schemaOfAttributes(fields) };
  }
  const given = jsonParam(step, step.raw(kind === 'manual' ? 'inputSchema' : 'jsonSchemaExample'));
  const schema = kind === 'manual' ? given : schemaFor(given ?? {});
  if (schema === undefined || !isJsonObject(schema))
    throw new Unmappable(message('import.not_json', { parameter: 'inputSchema' }));
  return { define: 'schema', schema };
}

const FIELD_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

interface WantedField {
  readonly [member: string]: JsonValue;
  readonly name: string;
  readonly type: string;
  readonly description: string;
}

function fieldOf(
  step: Step,
  { name, type, description, required }: { readonly [member: string]: JsonValue | undefined },
  index: number,
): WantedField {
  const kind = textOf(type ?? null);
  return {
    name: textOf(name ?? null) ?? `value_${index + 1}`,
    type: kind === 'number' || kind === 'boolean' ? kind : kind === 'date' ? 'date_time' : 'string',
    description: asText(step.value(description ?? '')),
    ...(required === true ? { required } : {}),
  };
}

/** For names that fields can't have: the same as a schema. */
function schemaOfAttributes(fields: readonly WantedField[]): JsonValue {
  const properties = fields.map(({ name, type, description }): [string, JsonValue] => [
    name,
    {
      ...(type === 'date_time' ? { type: 'string', format: 'date-time' } : { type }),
      ...(description === '' ? {} : { description }),
    },
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties.filter(([name]) => name !== '__proto__')),
    required: fields.filter(({ required = false }) => required === true).map(({ name }) => name),
  };
}

interface Category {
  readonly [member: string]: string;
  readonly name: string;
  readonly description: string;
}

/** Lets a model choose among classes. The outputs are those of the classes, then the one for none of them. */
function chooseAmong(step: Step, given: readonly Category[], settings: Config): readonly Out[] {
  const classes = withUsableNames(given);
  const text = step.param('inputText', '');
  const id = step.add('ai.classify', { ...modelConfig(step), text, classes, ...settings });
  return [...classes.map(({ name }) => step.pass(name, id)), step.pass('other', id)];
}

/** Names that a class can have, each once; n8n tells its outputs apart by their order. */
function withUsableNames(given: readonly Category[]): readonly Category[] {
  const taken = new Set(['other', 'error']);
  return given.map(({ name, description }, index) => {
    const short = name.replaceAll(/[{}]/g, '').slice(0, 60);
    const own = short === '' || taken.has(short) ? `${short} ${index + 1}`.trim() : short;
    taken.add(own);
    return { name: own, description: own === name || description !== '' ? description : name };
  });
}

function classify(step: Step): readonly Out[] {
  const categories = arrayOf(step.raw('categories.categories')).map(objectOf);
  const given = categories.map((each, index) => ({
    name: textOf(each.category) ?? `Category ${index + 1}`,
    description: asText(step.value(each.description ?? '')),
  }));
  if (given.some(({ name }) => name.startsWith('=')))
    throw new Unmappable(message('import.name_is_expression', { name: 'categories' }));
  const own = step.param('options.systemPromptTemplate', '');
  return chooseAmong(step, given, {
    ...(step.raw('options.multiClass') === true ? { mode: 'several' } : {}),
    // Its placeholders stand for the categories, which the node lists itself.
    ...(own === '' ? {} : { system: asText(own).replaceAll(/\{(?:categories|inputText)\}/g, '') }),
  });
}

function sentiment(step: Step): readonly Out[] {
  const names = step
    .text('options.categories', 'Positive, Neutral, Negative')
    .split(',')
    .map((name) => ({ name: name.trim(), description: '' }));
  return chooseAmong(step, names, { system: 'The classes are moods: say which the mood of the text is.' });
}
