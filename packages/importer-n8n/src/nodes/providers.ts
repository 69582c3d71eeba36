import type { JsonValue } from '@millrace/engine';
import { template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import type { Handlers } from '../handler.ts';
import { arrayOf, asText, objectOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';
import { AUTH, defaultModel, modelOptions } from './parts.ts';
import { agentTools } from './tools.ts';

type Config = { [name: string]: JsonValue };

const OPENAI = 'https://api.openai.com/v1';

/** The nodes of model providers: a question to a model, and calls of their other services. */
export function openAi(step: Step, tools: Handlers): readonly Out[] {
  const isOld = step.node.type.startsWith('n8n-nodes-base.');
  const resource = step.text('resource', 'text');
  const written = step.text('operation', isOld && resource === 'text' ? 'complete' : 'message');
  const isText = resource === 'text' || resource === 'chat';
  // No version of the node has it, but files do.
  const operation = resource === 'chat' && written === 'create' ? 'complete' : written;
  if (operation !== written)
    step.approximate(
      message('import.nearest_operation', { operation: 'chat.create', nearest: 'chat.complete' }),
    );
  if (isText && (operation === 'message' || operation === 'complete' || operation === 'response'))
    return askOnce(step, isOld, tools);
  const call = (path: string, body: JsonValue): string => {
    step.approximate(message('import.called_by_hand'));
    step.approximate(message('import.choose_credential'));
    return step.add('http.request', {
      method: 'POST',
      url: `${OPENAI}${path}`,
      auth: AUTH,
      body,
      timeout_ms: 120_000,
    });
  };
  if (
    resource === 'image' &&
    (operation === 'message' || operation === 'generate' || operation === 'create')
  ) {
    const id = call('/images/generations', {
      prompt: step.param('prompt', ''),
      model: modelName(step, 'dall-e-3'),
      size: step.param('options.size', '1024x1024'),
      n: 1,
    });
    const made = step.one(`nodes.${id}.output.body.data[0]`);
    if (step.raw('options.returnImageUrls') === true) return [made];
    const image = step.add(
      'http.request',
      { url: `{{nodes.${id}.output.body.data[0].url}}`, response_type: 'file' },
      { suffix: 'image' },
    );
    return [step.withFile(step.one(`nodes.${id}.output.body.data[0]`), 'data', `nodes.${image}.output.body`)];
  }
  if (resource === 'image' && operation === 'analyze' && step.text('inputType', 'url') === 'url') {
    const id = call('/chat/completions', {
      model: modelName(step, 'gpt-4o'),
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: step.param('text', "What's in this image?") },
            { type: 'image_url', image_url: { url: step.param('imageUrls', '') } },
          ],
        },
      ],
    });
    return [step.one(`nodes.${id}.output.body`, { content: ['choices', '0', 'message', 'content'] })];
  }
  if (resource === 'image' && operation === 'analyze') return lookAt(step);
  if (resource === 'audio' && /^trans(?:cribe|late)$/.test(operation)) return transcribe(step, operation);
  if (resource === 'audio' && (operation === 'generate' || operation === 'message')) return speak(step);
  if (resource === 'text' && operation === 'edit') {
    const id = call('/chat/completions', {
      model: modelName(step, 'gpt-4.1-mini'),
      messages: [
        { role: 'system', content: step.param('instruction', '') },
        { role: 'user', content: step.param('input', '') },
      ],
    });
    return [step.one(`nodes.${id}.output.body`, { text: ['choices', '0', 'message', 'content'] })];
  }
  if (operation === 'classify') {
    const id = call('/moderations', { input: step.param('input', '') });
    return [step.one(`nodes.${id}.output.body.results[0]`)];
  }
  throw new Unmappable(message('import.unknown_operation', { operation: `${resource}.${operation}` }));
}

/** A question about an image of the item. */
function lookAt(step: Step): readonly Out[] {
  const names = (step.text('binaryPropertyName', 'data') || 'data').split(',').map((name) => name.trim());
  const files = names.map((name) => template(step.file(name)));
  step.approximate(message('import.choose_model_credential'));
  const id = step.add('ai.generate', {
    credential_id: 0,
    model: modelName(step, defaultModel(step.node.kind)),
    prompt: step.param('text', "What's in this image?"),
    ...optionsOf(step),
    files,
  });
  const answer = ['text'];
  return [
    step.one(`nodes.${id}.output`, {
      content: answer,
      'content.parts.0.text': answer,
      'output.0.content.0.text': answer,
      '0.content.0.text': answer,
    }),
  ];
}

/** Speech as text. */
function transcribe(step: Step, operation: string): readonly Out[] {
  step.approximate(message('import.called_by_hand'));
  step.approximate(message('import.choose_credential'));
  const id = step.add('http.request', {
    method: 'POST',
    url: `${OPENAI}/audio/${operation === 'translate' ? 'translations' : 'transcriptions'}`,
    auth: AUTH,
    body_type: 'multipart',
    body: {
      file: template(step.file(step.text('binaryPropertyName', 'data') || 'data')),
      model: 'whisper-1',
    },
    timeout_ms: 120_000,
  });
  return [step.one(`nodes.${id}.output.body`)];
}

/** Text as speech. */
function speak(step: Step): readonly Out[] {
  step.approximate(message('import.called_by_hand'));
  step.approximate(message('import.choose_credential'));
  const id = step.add('http.request', {
    method: 'POST',
    url: `${OPENAI}/audio/speech`,
    auth: AUTH,
    body: {
      model: step.param('model', 'tts-1'),
      input: step.param('input', ''),
      voice: step.param('voice', 'alloy'),
    },
    response_type: 'file',
    timeout_ms: 120_000,
  });
  const name = step.text('options.binaryPropertyOutput', 'data') || 'data';
  return [step.withFile(step.one(`nodes.${id}.output`, {}), name, `nodes.${id}.output.body`)];
}

function optionsOf(step: Step): { readonly [name: string]: JsonValue } {
  const given = (name: string): JsonValue | undefined => {
    const value = step.raw(`options.${name}`);
    return value === undefined ? undefined : step.value(value);
  };
  return modelOptions(step, given('temperature'), given('maxTokens') ?? given('maxOutputTokens'));
}

function modelName(step: Step, otherwise: string): JsonValue {
  const chosen = step.chosen('modelId') ?? step.chosen('model') ?? step.chosen('chatModel');
  return chosen === null || chosen === '' ? otherwise : chosen;
}

function askOnce(step: Step, isOld: boolean, callable: Handlers): readonly Out[] {
  const values = step.raw('messages.values') ?? step.raw('prompt.messages') ?? step.raw('responses.values');
  const messages = arrayOf(values).map(objectOf);
  const texts = messages.map((each) => ({
    isSystem: each.role === 'system' || each.role === 'developer',
    text: step.value(each.content ?? ''),
  }));
  const [only] = texts;
  const system = texts.filter(({ isSystem }) => isSystem).map(({ text }) => asText(text));
  const asked = texts.filter(({ isSystem }) => !isSystem).map(({ text }) => text);
  const prompt =
    messages.length === 0
      ? step.param('prompt', '')
      : asked.length === 0
        ? (only?.text ?? '')
        : asked.length === 1
          ? (asked[0] ?? '')
          : asked.map(asText).join('\n\n');
  const isJson =
    step.raw('jsonOutput') === true ||
    step.raw('simplifyOutput') === 'json' ||
    step.text('options.textFormat.textOptions.type') === 'json_object';
  const tools = agentTools(step, callable);
  const apart = step.param('options.system', '') || step.param('options.systemMessage', '');
  if (apart !== '') system.unshift(asText(apart));
  step.approximate(message('import.choose_model_credential'));
  const config: Config = {
    credential_id: 0,
    model: modelName(step, isOld ? 'gpt-4.1-mini' : defaultModel(step.node.kind)),
    ...(system.length === 0 || prompt === system[0] ? {} : { system: system.join('\n\n') }),
    prompt,
    ...optionsOf(step),
    ...(isJson ? { output: 'json', schema: { type: 'object' } } : {}),
    ...tools,
  };
  const id = step.add(Object.keys(tools).length === 0 ? 'ai.generate' : 'ai.agent', config);
  const answer = [isJson ? 'json' : 'text'];
  return [
    step.one(`nodes.${id}.output`, {
      'message.content': answer,
      'choices.0.message.content': answer,
      'output.0.content.0.text': answer,
      'content.0.text': answer,
      'content.parts.0.text': answer,
      content: answer,
      text: answer,
    }),
  ];
}
