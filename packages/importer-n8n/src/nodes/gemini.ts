import type { JsonValue } from '@millrace/engine';
import { extend, inUrl, template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { arrayOf, asText, objectOf, textOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';
import { AUTH } from './parts.ts';

const API = 'https://generativelanguage.googleapis.com/v1beta';

/** What n8n does if no operation is named. */
const DEFAULTS: { readonly [resource: string]: string } = {
  audio: 'transcribe',
  document: 'analyze',
  image: 'generate',
  video: 'generate',
};

/** Recordings, documents and images by Google's own API; null for what any model can be asked. */
export function geminiMedia(step: Step): readonly Out[] | null {
  const resource = step.text('resource', 'text');
  const operation = step.text('operation') || DEFAULTS[resource] || 'message';
  switch (`${resource}.${operation}`) {
    case 'audio.transcribe':
      return ask(step, 'Transcribe this recording. Answer with its words only.');
    case 'audio.analyze':
    case 'video.analyze':
    case 'document.analyze':
      return ask(step, 'Describe what this contains.');
    case 'image.edit':
      return draw(step, imagesOf(step), 'edited');
    case 'image.generate':
      return draw(step, [], 'data');
    case 'video.generate':
    case 'video.download':
      throw new Unmappable(message('import.unknown_operation', { operation: `${resource}.${operation}` }));
    default:
      return null;
  }
}

function modelOf(step: Step, otherwise: string): string {
  const chosen = asText(step.chosen('modelId') ?? '');
  const name = chosen.replace(/^models\//, '');
  return name === '' ? otherwise : inUrl(name);
}

function called(step: Step, model: string, action: string, body: JsonValue): string {
  step.approximate(message('import.called_by_hand'));
  step.approximate(message('import.choose_credential'));
  return step.add('http.request', {
    method: 'POST',
    url: `${API}/models/${model}:${action}`,
    auth: AUTH,
    body,
    timeout_ms: 180_000,
  });
}

/** A file as a part of a question. */
function inline(step: Step, file: string, index: number): JsonValue {
  const suffix = index === 0 ? 'content' : `content ${index + 1}`;
  const id = step.add('file.read', { file: template(file), format: 'base64' }, { suffix });
  return {
    inline_data: {
      mime_type: template(extend(file, ['type'])),
      data: template(`nodes.${id}.output.base64`),
    },
  };
}

/** Files of the item, or what URLs lead to, which is read first. */
function filesOf(step: Step, urls: string): readonly string[] {
  if (step.text('inputType', 'url') === 'binary') {
    const names = (step.text('binaryPropertyName', 'data') || 'data').split(',');
    return names.map((name) => step.file(name.trim()));
  }
  const url = step.param(urls, '');
  if (url === '') throw new Unmappable(message('import.no_files'));
  const id = step.add('http.request', { url, response_type: 'file' }, { suffix: 'file' });
  return [`nodes.${id}.output.body`];
}

function ask(step: Step, otherwise: string): readonly Out[] {
  const resource = step.text('resource');
  const parts = filesOf(step, `${resource}Urls`).map((file, index) => inline(step, file, index));
  const id = called(step, modelOf(step, 'gemini-2.5-flash'), 'generateContent', {
    contents: [{ role: 'user', parts: [{ text: step.param('text', otherwise) }, ...parts] }],
  });
  const answer = ['candidates', '0', 'content'];
  return [
    step.one(`nodes.${id}.output.body`, {
      '': [],
      content: answer,
      text: [...answer, 'parts', '0', 'text'],
    }),
  ];
}

function imagesOf(step: Step): readonly string[] {
  const listed = arrayOf(step.raw('images.values')).map(objectOf);
  const names = listed.map(({ binaryPropertyName }) => textOf(binaryPropertyName) ?? 'data');
  return (names.length === 0 ? ['data'] : names).map((name) => step.file(name));
}

/** The image that a model makes, as a file. */
function draw(step: Step, images: readonly string[], otherwise: string): readonly Out[] {
  const parts = images.map((file, index) => inline(step, file, index));
  const model = modelOf(step, 'gemini-2.5-flash-image');
  const isImagen = model.startsWith('imagen');
  const prompt = step.param('prompt', '');
  const id = isImagen
    ? called(step, model, 'predict', { instances: [{ prompt }], parameters: { sampleCount: 1 } })
    : called(step, model, 'generateContent', {
        contents: [{ role: 'user', parts: [{ text: prompt }, ...parts] }],
        generationConfig: { responseModalities: ['TEXT', 'IMAGE'] },
      });
  const found = step.add(
    'core.code',
    {
      code: `const { body } = input;
const part = body.candidates?.[0]?.content?.parts?.find((each) => each.inlineData ?? each.inline_data);
const data = part?.inlineData?.data ?? part?.inline_data?.data ?? body.predictions?.[0]?.bytesBase64Encoded;
if (data === undefined) throw new Error('The model made no image');
return data;`,
      input: { body: template(`nodes.${id}.output.body`) },
    },
    { suffix: 'image' },
  );
  const file = step.add(
    'file.write',
    { format: 'base64', name: 'image.png', data: template(`nodes.${found}.output.result`) },
    { suffix: 'file' },
  );
  const name = step.text('options.binaryPropertyOutput', otherwise) || otherwise;
  return [step.withFile(step.one(`nodes.${id}.output.body`), name, `nodes.${file}.output.file`)];
}
