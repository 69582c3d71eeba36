import type { JsonObject, JsonValue } from '@millrace/engine';
import { extend, literal, template } from '@millrace/importer-kit/refs';
import { Unmappable } from '@millrace/importer-kit/unmappable';
import { arrayOf, asText, objectOf, textOf } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import { chooseByModel } from '../../direct/choice.ts';
import { readJinja } from '../../direct/jinja.ts';
import { JinjaError } from '../../direct/jinja-error.ts';
import type { DirectStep, Made, Make } from '../../direct/maker.ts';
import { remembered } from '../../direct/memory.ts';
import { asked, modelSettings, schemaIn, schemaOf } from '../../direct/model.ts';
import type { Origin } from '../../direct/origin.ts';
import { contextOf, namesIn, pathOf, selected, textValue } from '../values.ts';
import { withError } from './errors.ts';

/** Nodes that use language models. */
export const MODELS: { readonly [type: string]: Make } = {
  llm: withError(ask),
  'parameter-extractor': withError(extract),
  'question-classifier': withError(classify),
};

type Config = { [name: string]: JsonValue };

function modelOf(step: DirectStep): Config {
  const model = objectOf(step.data.model);
  return modelSettings(step, textOf(model.name), objectOf(model.completion_params));
}

/** Whether a node takes the conversation into account. */
function remembers({ data }: Pick<Origin, 'data'>): boolean {
  return data.memory !== undefined && data.memory !== null;
}

/** The settings of a node whose model remembers the conversation. */
export function memoryOf(step: DirectStep): Config {
  const { app } = contextOf(step);
  if (!app.isChat || !remembers(step)) return {};
  const window = objectOf(objectOf(step.data.memory).window);
  const isAlone = [...app.flow.origins.values()].filter(remembers).length === 1;
  return remembered(step, {
    part: isAlone ? null : step.origin.id,
    turns: window.enabled === true ? Number(window.size) : null,
  });
}

function ask(step: DirectStep): Made {
  const { data } = step;
  const context = objectOf(data.context);
  const found =
    context.enabled === true && namesIn(context.variable_selector) !== null
      ? contextText(step, context.variable_selector)
      : undefined;
  const given = data.prompt_template;
  const turns = (Array.isArray(given) ? arrayOf(given) : [given ?? null]).map((each) => {
    const turn = objectOf(each);
    return { role: textOf(turn.role) ?? 'user', text: turnText(step, turn, found) };
  });
  const memory = objectOf(data.memory);
  const question = textOf(memory.query_prompt_template);
  if (remembers(step) && contextOf(step).app.isChat)
    turns.push({ role: 'user', text: textValue(step, question ?? '{{#sys.query#}}', found) });
  const { system, prompt } = asked(turns);
  // A model is always asked something: what would be instructions only is the question.
  const [instructions, text] = prompt === '' ? ['', system] : [system, prompt];
  if (objectOf(data.vision).enabled === true) step.approximate(message('import.no_images'));
  const schema =
    data.structured_output_enabled === true ? schemaIn(objectOf(data.structured_output).schema) : null;
  const id = step.add('ai.generate', {
    ...modelOf(step),
    ...(instructions === '' ? {} : { system: instructions }),
    prompt: text,
    ...memoryOf(step),
    ...(schema === null ? {} : { output: 'json', schema }),
  });
  return step.result(([name = '', ...rest]) => {
    const member = {
      text: 'text',
      usage: 'usage',
      finish_reason: 'finish_reason',
      structured_output: 'json',
      reasoning_content: null,
    }[name];
    if (member === null) return '""';
    return member === undefined ? null : extend(`nodes.${id}.output`, [member, ...rest]);
  });
}

/** What stands for the context: of texts that were found, their content. */
function contextText(step: DirectStep, selector: JsonValue | undefined): string {
  const path = selected(step, selector);
  const [first = ''] = namesIn(selector) ?? [];
  const isFound = step.maker.flow.origins.get(first)?.type === 'knowledge-retrieval';
  return isFound ? `${path} | map: "content" | join: "\\n"` : path;
}

/** A turn may be a Jinja template. */
function turnText(step: DirectStep, turn: JsonObject, context: string | undefined): string {
  if (turn.edition_type !== 'jinja2') return textValue(step, turn.text, context);
  const variables = arrayOf(objectOf(step.data.prompt_config).jinja2_variables).map(objectOf);
  return jinjaText(step, textOf(turn.jinja2_text) ?? asText(turn.text), variables);
}

/** The text of a Jinja template, computed before the node if it decides or repeats. */
export function jinjaText(step: DirectStep, source: string, variables: readonly JsonObject[]): string {
  const paths = new Map(
    variables.flatMap(({ variable, value_selector: selector }): [string, string][] => {
      const name = textOf(variable);
      const names = namesIn(selector);
      return name === null || names === null ? [] : [[name, pathOf(step, names)]];
    }),
  );
  try {
    const made = readJinja(
      source,
      (name, members) => {
        const path = paths.get(name);
        if (path === undefined) return null;
        return members.length === 0 ? path : path.includes(' ') ? null : extend(path, members);
      },
      literal,
    );
    if ('text' in made) return made.text;
    const input = Object.fromEntries([...paths].map(([name, path]) => [name, template(path)]));
    const id = step.add('core.code', { code: literal(made.code), input }, { suffix: 'text' });
    return template(`nodes.${id}.output.result`);
  } catch (error) {
    if (!(error instanceof JinjaError)) throw error;
    throw new Unmappable(message('import.template_unreadable', { part: error.message }));
  }
}

function extract(step: DirectStep): Made {
  const { data } = step;
  const fields = arrayOf(data.parameters)
    .map(objectOf)
    .map((each) => ({
      name: textOf(each.name) ?? '',
      type: textOf(each.type) ?? 'string',
      description: textOf(each.description) ?? '',
      choices: each.type === 'select' ? arrayOf(each.options) : [],
      isRequired: each.required === true,
    }));
  if (fields.length === 0) throw new Unmappable(message('import.no_fields'));
  const instruction = textOf(data.instruction);
  const id = step.add('ai.generate', {
    ...modelOf(step),
    system: [
      'Extract the values from the text.',
      ...(instruction === null ? [] : [textValue(step, instruction)]),
    ].join('\n'),
    prompt: template(selected(step, data.query)),
    ...memoryOf(step),
    output: 'json',
    schema: schemaOf(fields),
  });
  return step.result(([name = '', ...rest]) => {
    if (name === '__is_success') return `nodes.${id}.output.json ? 1 : 0`;
    if (name === '__reason') return '""';
    if (name === '__usage') return extend(`nodes.${id}.output.usage`, rest);
    return extend(`nodes.${id}.output.json`, [name, ...rest]);
  });
}

function classify(step: DirectStep): Made {
  const { data } = step;
  const classes = arrayOf(data.classes)
    .map(objectOf)
    .map((each, index) => ({
      id: textOf(each.id) ?? String(index + 1),
      name: textValue(step, each.name ?? ''),
    }));
  if (classes.length === 0) throw new Unmappable(message('import.no_conditions'));
  const instruction = textOf(data.instruction) ?? textOf(data.instructions);
  const { number, id, handles } = chooseByModel(step, {
    model: { ...modelOf(step), ...memoryOf(step) },
    instructions: instruction === null ? [] : [textValue(step, instruction)],
    prompt: template(selected(step, data.query_variable_selector)),
    choices: classes.map(({ name }) => name),
  });
  const exits = Object.fromEntries(
    classes.map((each, index) => [each.id, { id, handle: handles[index] ?? '' }]),
  );
  const places = classes.map(({ name }) => name);
  return step.result(([name = '']) => {
    if (name === 'class_id') return `${number} | string`;
    if (name !== 'class_name' || places.some((each) => each.includes('{{'))) return null;
    return places.reduceRight(
      (rest, each, index) => `(${number} == ${index + 1} ? ${JSON.stringify(each)} : ${rest})`,
      'null',
    );
  }, exits);
}
