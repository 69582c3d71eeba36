import { type JsonValue, own } from '@millrace/engine';
import { type CodeFiles, filesOfCode } from '@millrace/importer-expressions/code-files';
import { inUrl, template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Compiler, Out } from '../compiler.ts';
import { forItem, forList, type Handlers } from '../handler.ts';
import { arrayOf, asText, type N8nNode, objectOf, parameterAt, textOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';
import { AUTH } from './parts.ts';
import { callService } from './service-call.ts';

/** Nodes that read and write files, which are values here. */
export const FILES: Handlers = {
  extractFromFile: forItem((step) => readFile(step, step.text('operation', 'csv'))),
  spreadsheetFile: {
    ...forItem((step) =>
      step.text('operation', 'fromFile') === 'toFile'
        ? writeFile(step, step.text('fileFormat', 'xls'))
        : readFile(step, step.text('fileFormat', 'xls') === 'csv' ? 'csv' : 'xlsx'),
    ),
    takes: ({ parameters }) => (parameters.operation === 'toFile' ? 'list' : 'item'),
  },
  convertToFile: {
    ...forList((step) => writeFile(step, step.text('operation', 'csv')), { collects: true }),
    takes: ({ parameters }) =>
      WHOLE_LISTS.has(textOf(parameters.operation) ?? 'csv') && parameters.mode !== 'each' ? 'list' : 'item',
  },
  readPDF: forItem((step) => readFile(step, 'pdf')),
  compression: forItem(compress),
  moveBinaryData: forItem(moveBinaryData),
};

const WHOLE_LISTS = new Set(['csv', 'html', 'ods', 'rtf', 'xls', 'xlsx', 'toJson']);

/** How the content of a file is read, and where it is in the output. */
const READERS: {
  readonly [operation: string]: { readonly format: string; readonly at: 'rows' | 'text' | 'data' };
} = {
  csv: { format: 'csv', at: 'rows' },
  xls: { format: 'xlsx', at: 'rows' },
  xlsx: { format: 'xlsx', at: 'rows' },
  ods: { format: 'xlsx', at: 'rows' },
  text: { format: 'text', at: 'text' },
  html: { format: 'text', at: 'text' },
  xml: { format: 'text', at: 'text' },
  ics: { format: 'text', at: 'text' },
  rtf: { format: 'text', at: 'text' },
  fromJson: { format: 'json', at: 'data' },
};

const DELIMITERS: { readonly [sign: string]: string } = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'pipe',
};

/** The name of the item's file that a node reads. */
function nameOf(step: Step): string {
  return step.text('binaryPropertyName') || step.text('inputDataFieldName') || 'data';
}

function readFile(step: Step, operation: string): readonly Out[] {
  const reader = own(READERS, operation);
  const file = step.file(nameOf(step));
  if (operation === 'pdf') return readPdf(step, file);
  // As n8n spells it.
  if (operation === 'binaryToPropery') {
    const id = step.add('file.read', { file: template(file), format: 'base64' });
    return [step.one(`nodes.${id}.output`, { [step.text('destinationKey', 'data') || 'data']: ['base64'] })];
  }
  if (reader === undefined) throw new Unmappable(message('import.unknown_operation', { operation }));
  const { format, at } = reader;
  const sheet = textOf(step.raw('options.sheetName'));
  const delimiter = own(DELIMITERS, step.text('options.delimiter'));
  const id = step.add('file.read', {
    file: template(file),
    format,
    ...(sheet === null || format !== 'xlsx' ? {} : { sheet: step.value(sheet) }),
    ...(delimiter === undefined || format !== 'csv' ? {} : { delimiter }),
    ...(step.raw('options.headerRow') === false && at === 'rows' ? { header: false } : {}),
  });
  if (at === 'rows') return [step.many(`nodes.${id}.output.rows`)];
  const name = step.text('destinationKey', 'data') || 'data';
  return [step.one(`nodes.${id}.output`, { [name]: [at] })];
}

function readPdf(step: Step, file: string): readonly Out[] {
  const pages = Number(step.raw('options.maxPages') ?? 0);
  const isLimited = Number.isInteger(pages) && pages >= 1 && pages <= 5_000;
  const id = step.add('file.pdf_text', { file: template(file), ...(isLimited ? { limit: pages } : {}) });
  return [step.one(`nodes.${id}.output`, { text: ['text'], numpages: ['page_count'], info: ['info'] })];
}

/** The oldest node for files: an item becomes a file, or the JSON in a file an item. */
function moveBinaryData(step: Step): readonly Out[] {
  if (step.text('mode', 'binaryToJson') === 'jsonToBinary') {
    const isWhole = step.raw('convertAllData') !== false;
    const given = step.param('options.fileName', '');
    const source = step.text('sourceKey', 'data') || 'data';
    const id = step.add('file.write', {
      format: isWhole ? 'json' : step.raw('options.dataIsBase64') === true ? 'base64' : 'text',
      name: typeof given === 'string' && given !== '' ? given : isWhole ? 'file.json' : 'file.txt',
      data: isWhole ? step.item() : step.expression(`$json[${JSON.stringify(source)}]`),
    });
    const target = step.text('destinationKey', 'data') || 'data';
    return [step.withFile(step.one(`nodes.${id}.output`, {}), target, `nodes.${id}.output.file`)];
  }
  const file = step.file(step.text('sourceKey', 'data') || 'data');
  const isWhole = step.raw('setAllData') !== false;
  const isJson = isWhole || step.raw('options.jsonParse') === true;
  const id = step.add('file.read', { file: template(file), format: isJson ? 'json' : 'text' });
  if (isWhole) return [step.one(`nodes.${id}.output.data`)];
  const name = step.text('destinationKey', 'data') || 'data';
  return [step.one(`nodes.${id}.output`, { [name]: [isJson ? 'data' : 'text'] })];
}

/** Formats of written files, and their extensions. */
const WRITERS: { readonly [operation: string]: { readonly format: string; readonly extension: string } } = {
  csv: { format: 'csv', extension: 'csv' },
  xls: { format: 'xlsx', extension: 'xlsx' },
  xlsx: { format: 'xlsx', extension: 'xlsx' },
  toJson: { format: 'json', extension: 'json' },
  toText: { format: 'text', extension: 'txt' },
};

function writeFile(step: Step, operation: string): readonly Out[] {
  if (operation === 'toBinary') return writeBytes(step);
  const writer = own(WRITERS, operation);
  if (writer === undefined) throw new Unmappable(message('import.unknown_operation', { operation }));
  const given = step.param('options.fileName', '');
  const name = typeof given === 'string' && given !== '' ? given : `file.${writer.extension}`;
  const id = step.add('file.write', {
    format: writer.format,
    name,
    data:
      operation === 'toText'
        ? textMember(step)
        : step.text('mode', 'once') === 'each' && operation === 'toJson'
          ? step.item()
          : rowsOf(step),
    ...(operation === 'csv' && step.text('options.delimiter') === ';' ? { delimiter: 'semicolon' } : {}),
  });
  const target = step.text('binaryPropertyName', 'data') || 'data';
  return [step.withFile(step.one(`nodes.${id}.output`, {}), target, `nodes.${id}.output.file`)];
}

/** Extensions of what usually comes in base64. */
const EXTENSIONS: { readonly [type: string]: string } = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/wav': 'wav',
  'audio/ogg': 'ogg',
  'video/mp4': 'mp4',
  'application/pdf': 'pdf',
};

/** A file whose bytes a member has in base64. Its name says of what type it is. */
function writeBytes(step: Step): readonly Out[] {
  const type = step.text('options.mimeType');
  const extension = Object.hasOwn(EXTENSIONS, type) ? EXTENSIONS[type] : 'bin';
  const given = step.param('options.fileName', '');
  const name = typeof given === 'string' && given !== '' ? given : `file.${extension}`;
  const id = step.add('file.write', { format: 'base64', name, data: textMember(step) });
  const target = step.text('binaryPropertyName', 'data') || 'data';
  return [step.withFile(step.one(`nodes.${id}.output`, {}), target, `nodes.${id}.output.file`)];
}

function textMember(step: Step): JsonValue {
  const property = step.text('sourceProperty', 'data').replace(/^=/, '') || 'data';
  if (property.includes('{{')) throw new Unmappable(message('import.name_is_expression', { name: property }));
  const path = property.split('.').map((part) => `[${JSON.stringify(part)}]`);
  return step.value(`={{ $json${path.join('')} }}`);
}

function rowsOf(step: Step): JsonValue {
  const [ref] = step.inputs;
  return ref == null ? [step.item()] : step.compiler.listIn(ref, step.scope);
}

function compress(step: Step): readonly Out[] {
  const names = (step.text('binaryPropertyName', 'data') || 'data').split(',').map((name) => name.trim());
  if (step.text('operation', 'decompress') === 'decompress') {
    const id = step.add('file.zip', { operation: 'extract', file: template(step.file(names[0] ?? 'data')) });
    const prefix = step.text('outputPrefix', 'file_') || 'file_';
    let out = step.one(`nodes.${id}.output`, {});
    for (let at = 0; at < EXTRACTED; at += 1)
      out = step.withFile(out, `${prefix}${at}`, `nodes.${id}.output.files[${at}]`);
    return [out];
  }
  if (step.text('outputFormat', 'zip') !== 'zip')
    throw new Unmappable(message('import.unknown_operation', { operation: 'gzip' }));
  const id = step.add('file.zip', {
    operation: 'make',
    files: names.map((name) => template(step.file(name))),
    name: step.param('fileName', 'data.zip'),
  });
  const target = step.text('binaryPropertyOutput', 'data') || 'data';
  return [step.withFile(step.one(`nodes.${id}.output`, {}), target, `nodes.${id}.output.file`)];
}

/** As many files of an archive can be read by their number. */
const EXTRACTED = 20;

/** Uploads to Google Drive: the content first, then its name and folder. */
export function uploadToDrive(step: Step): readonly Out[] {
  const operation = step.text('operation', 'upload');
  const isText = operation === 'createFromText';
  step.approximate(message('import.called_by_hand'));
  step.approximate(message('import.choose_credential'));
  const content = isText ? step.param('content', '') : template(step.file(nameOf(step)));
  const uploaded = step.add(
    'http.request',
    {
      method: 'POST',
      url: 'https://www.googleapis.com/upload/drive/v3/files',
      query: { uploadType: 'media' },
      auth: AUTH,
      body: content,
      body_type: isText ? 'text' : 'file',
    },
    { suffix: 'content' },
  );
  const folder = step.chosen('folderId') ?? step.chosen('parents');
  const name = step.param('name', '');
  const isNamed = typeof name === 'string' && name !== '';
  const parent = typeof folder === 'string' && folder !== '' && folder !== 'root' ? folder : null;
  const id = step.add('http.request', {
    method: 'PATCH',
    url: `https://www.googleapis.com/drive/v3/files/${inUrl(`{{nodes.${uploaded}.output.body.id}}`)}`,
    query: { ...(parent === null ? {} : { addParents: parent }), fields: '*' },
    auth: AUTH,
    body: isNamed ? { name } : {},
  });
  return [step.one(`nodes.${id}.output.body`)];
}

/** A file that was sent to a bot: where it is, and then its content. */
export function telegramFile(step: Step): readonly Out[] {
  if (step.raw('download') === false) return callService(step);
  step.approximate(message('import.made_operation'));
  step.approximate(message('import.choose_credential'));
  const id = step.add('connector.telegram.download_file', {
    credential_id: 0,
    file_id: asText(step.param('fileId', '')),
  });
  return [step.withFile(step.one(`nodes.${id}.output`, { result: [] }), 'data', `nodes.${id}.output.file`)];
}

/** Whether what a request returns is read as a file by a node right after it: the original finds out by the type of the response. */
export function feedsFile({ started, workflow }: Compiler, node: N8nNode): boolean {
  const open = [node.name];
  const seen = new Set(open);
  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (const link of started.links) {
      const next = workflow.nodes.get(link.to);
      if (link.from !== at || next === undefined || seen.has(next.name)) continue;
      seen.add(next.name);
      if (readsFile(next) || readsContent(next)) return true;
      if (PASSES_ON.has(next.kind) || passesFilesOn(next) || keepsFiles(next)) open.push(next.name);
    }
  return false;
}

/** Each code is read once, however many requests come before it. */
const READ = new WeakMap<N8nNode, CodeFiles | null>();

function codeFilesOf(node: N8nNode): CodeFiles | null {
  if (node.kind !== 'code') return null;
  const known = READ.get(node);
  if (known !== undefined) return known;
  const found = filesOfCode(asText(node.parameters.jsCode));
  READ.set(node, found);
  return found;
}

/** Whether code passes on the files that its items have. */
function passesFilesOn(node: N8nNode): boolean {
  const found = codeFilesOf(node);
  return found !== null && (found.passes || /\.\s*binary\b/.test(asText(node.parameters.jsCode)));
}

/** Whether code reads the content of a file of its items. */
function readsContent(node: N8nNode): boolean {
  const found = codeFilesOf(node);
  if (found === null || found.reads === 'others') return false;
  return /\bgetBinaryDataBuffer\b|\bbinary\b[^;\n]*\.\s*data\b/.test(asText(node.parameters.jsCode));
}

/** Whether fields that are set are added to an item that keeps its files. */
function keepsFiles({ kind, version, parameters }: N8nNode): boolean {
  if (kind !== 'set') return false;
  const strips = parameterAt(parameters, 'options.stripBinary') ?? version >= 3.4;
  return strips !== true && parameterAt(parameters, 'options.includeBinary') !== false;
}

const PASSES_ON = new Set(['if', 'switch', 'filter', 'noOp', 'merge', 'wait']);

function readsFile({ kind, parameters }: N8nNode): boolean {
  switch (kind) {
    case 'extractFromFile':
    case 'compression':
    case 'readPDF':
    case 'editImage':
    case 'moveBinaryData':
      return kind !== 'moveBinaryData' || parameters.mode !== 'jsonToBinary';
    case 'linkedIn':
      return parameters.shareMediaCategory === 'IMAGE';
    case 'youTube':
    case 'slack':
    case 'awsS3':
    case 's3':
    case 'dropbox':
      return parameters.operation === 'upload';
    case 'googleGemini':
      return parameters.inputType === 'binary' || parameters.operation === 'edit';
    case 'spreadsheetFile':
      return parameters.operation !== 'toFile';
    case 'googleDrive':
      return parameters.operation === undefined || parameters.operation === 'upload';
    case 'telegram':
      return parameters.binaryData === true;
    case 'gmail':
      return parameterAt(parameters, 'options.attachmentsUi.attachmentsBinary') !== undefined;
    case 'microsoftOutlook':
      return arrayOf(parameterAt(parameters, 'additionalFields.attachments.attachments')).length > 0;
    case 'sendGrid':
      return textOf(parameterAt(parameters, 'additionalFields.attachments')) !== null;
    case 'emailSend':
      return textOf(parameters.attachments ?? parameterAt(parameters, 'options.attachments')) !== null;
    case 'openAi':
      return (
        (parameters.resource === 'audio' && asText(parameters.operation).startsWith('trans')) ||
        (parameters.operation === 'analyze' && parameters.inputType === 'base64')
      );
    case 'httpRequest':
      return (
        parameters.contentType === 'binaryData' ||
        parameters.sendBinaryData === true ||
        arrayOf(parameterAt(parameters, 'bodyParameters.parameters')).some(
          (each) => objectOf(each).parameterType === 'formBinaryData',
        )
      );
    default:
      return false;
  }
}
