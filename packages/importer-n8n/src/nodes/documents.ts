import type { JsonValue } from '@millrace/engine';
import { template } from '@millrace/importer-kit/refs';
import { arrayOf, objectOf } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import { asText, type N8nNode, parameterOf, textOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';
import { partParam } from './parts.ts';

type Config = { [name: string]: JsonValue };

/** Loaders that read what the node they belong to gets. Others fetch documents themselves. */
const LOADERS = new Set([
  'documentDefaultDataLoader',
  'documentJsonInputLoader',
  'documentBinaryInputLoader',
]);

/** Formats that file.read can tell by itself. */
const PLAIN = new Set(['auto', 'csvLoader', 'jsonLoader', 'textLoader']);

/**
 * Splits the documents that a node gets from its loaders, by nodes before it.
 * @returns the insides of templates for lists of parts, each with text and metadata
 * @throws Unmappable
 */
export function splitDocuments(step: Step): readonly string[] {
  const loaders = step.compiler.partsOf(step.node.name, 'ai_document');
  if (loaders.length === 0) throw new Unmappable(message('import.no_loader'));
  return loaders.map((loader) => {
    const text = documentText(step, loader);
    const metadata = metadataOf(step, loader);
    const id = step.add(
      'ai.split',
      {
        text,
        ...splitting(step, loader),
        ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
      },
      { suffix: loaders.length === 1 ? 'parts' : loader.name },
    );
    return `nodes.${id}.output.chunks`;
  });
}

/** The texts that the loaders of a node read. @throws Unmappable */
export function documentTexts(step: Step): readonly JsonValue[] {
  const loaders = step.compiler.partsOf(step.node.name, 'ai_document');
  if (loaders.length === 0) throw new Unmappable(message('import.no_loader'));
  return loaders.map((loader) => documentText(step, loader));
}

/** The text of what a loader reads. */
function documentText(step: Step, loader: N8nNode): JsonValue {
  if (!LOADERS.has(loader.kind))
    throw new Unmappable(message('import.unknown_operation', { operation: loader.kind }));
  const isFile =
    loader.kind === 'documentBinaryInputLoader' || textOf(loader.parameters.dataType) === 'binary';
  if (isFile) return fileText(step, textOf(loader.parameters.loader) ?? 'auto', fileName(step, loader));
  const own = loader.parameters.jsonData;
  const isChosen = textOf(loader.parameters.jsonMode) === 'expressionData' && own !== undefined;
  if (isChosen) return step.value(own);
  step.approximate(message('import.item_as_document'));
  return step.item();
}

/** The file that a loader reads: the one it names, else the item's first. */
function fileName(step: Step, { parameters }: N8nNode): string {
  const named = textOf(parameters.binaryDataKey);
  const isNamed = named !== null && textOf(parameters.binaryMode) !== 'allInputData';
  const [first] = Object.keys(step.input?.files ?? {});
  return isNamed ? named : (first ?? 'data');
}

/**
 * The text of a file of the item, read by nodes before the current one.
 * @param loader n8n's name of how it is read
 * @throws Unmappable
 */
export function fileText(step: Step, loader: string, name: string): JsonValue {
  const file = step.file(name);
  if (loader === 'pdfLoader') return template(`nodes.${readPdf(step, file)}.output.text`);
  if (!PLAIN.has(loader)) throw new Unmappable(message('import.unknown_operation', { operation: loader }));
  if (loader !== 'auto') return template(anyText(readPlain(step, file, loader)));
  // Which of the two reads it is known when it is there: the other one is skipped, and its output is null.
  const choice = step.add(
    'core.if',
    { conditions: [{ left: template(`${file}.type`), operator: 'equals', right: 'application/pdf' }] },
    { suffix: 'PDF?' },
  );
  step.continueFrom([{ id: choice, handle: 'true' }]);
  const pdf = readPdf(step, file);
  const afterPdf = step.after;
  step.continueFrom([{ id: choice, handle: 'false' }]);
  const plain = readPlain(step, file, loader);
  step.continueFrom([...afterPdf, ...step.after]);
  return template(`nodes.${pdf}.output.text ?? ${anyText(plain)}`);
}

function readPdf(step: Step, file: string): string {
  return step.add('file.pdf_text', { file: template(file) }, { suffix: 'text of PDF' });
}

const FORMATS: { readonly [loader: string]: string } = {
  csvLoader: 'csv',
  jsonLoader: 'json',
  textLoader: 'text',
};

function readPlain(step: Step, file: string, loader: string): string {
  const format = FORMATS[loader] ?? 'auto';
  return step.add('file.read', { file: template(file), format }, { suffix: 'content' });
}

function anyText(id: string): string {
  return ['text', 'data', 'rows'].map((member) => `nodes.${id}.output.${member}`).join(' ?? ');
}

/** What a loader adds to each part. */
function metadataOf(step: Step, loader: N8nNode): Config {
  const values = arrayOf(parameterOf(loader, 'options.metadata.metadataValues')).map(objectOf);
  return Object.fromEntries(
    values.flatMap(({ name, value }) => {
      const known = textOf(name);
      return known === null || known === '__proto__' ? [] : [[known, step.value(value ?? null)] as const];
    }),
  );
}

const SIZE = 1_000;
const OVERLAP = 200;

/** The settings of ai.split: those of the connected splitter, or what n8n's loader does without one. */
function splitting(step: Step, loader: N8nNode): Config {
  const [splitter] = step.compiler.partsOf(loader.name, 'ai_textSplitter');
  if (splitter === undefined) return { size: SIZE, overlap: OVERLAP };
  const number = (path: string, otherwise: number): number => {
    const value = partParam(step, splitter, path);
    return typeof value === 'number' && Number.isInteger(value) ? value : otherwise;
  };
  const isInTokens = splitter.kind === 'textSplitterTokenSplitter';
  const size = Math.min(Math.max(number('chunkSize', SIZE), 20), 100_000);
  const overlap = Math.max(number('chunkOverlap', isInTokens ? 0 : OVERLAP), 0);
  const most = Math.floor(size / 2);
  const code = asText(partParam(step, splitter, 'options.splitCode'));
  const separator = textOf(splitter.parameters.separator);
  if (overlap > most) step.compiler.approximate(splitter, message('import.overlap_at_most_half'));
  if (isInTokens) step.compiler.approximate(splitter, message('import.tokens_estimated'));
  if (splitter.kind === 'textSplitterCharacterTextSplitter' && separator !== null)
    step.compiler.approximate(splitter, message('import.own_separators'));
  return {
    ...(code === 'markdown' || code === 'html' ? { format: code } : {}),
    size,
    overlap: Math.min(overlap, most),
    ...(isInTokens ? { unit: 'tokens' } : {}),
  };
}

/** Parts as n8n has documents. */
export const AS_DOCUMENTS = `return input.parts.flat().map(({ text, metadata }) => ({ pageContent: text, metadata }));`;
