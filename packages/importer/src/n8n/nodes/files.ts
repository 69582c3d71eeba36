import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { message } from '@millrace/messages';
import { memberPath, template } from '../../refs.ts';
import type { Compiler, Out } from '../compiler.ts';
import { forItem, type Handlers } from '../handler.ts';
import { type N8nNode, parameterAt } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';

/** Nodes that work on files as such: PDF files and images. */
export const FILES: Handlers = {
  readPDF: forItem(readPdf),
  editImage: forItem(editImage),
};

/** Nodes of Millrace whose item has a file, not Base64. */
const GIVERS = new WeakMap<Compiler, Set<string>>();

/** Notes that a node of Millrace makes a file. */
export function noteFile({ compiler }: Step, id: string): void {
  const ids = GIVERS.get(compiler) ?? new Set();
  GIVERS.set(compiler, ids.add(id));
}

/** Whether all that directly follows a node takes its file as one. */
export function isReadAsFile({ compiler, node }: Step): boolean {
  const { links, nodes } = compiler.workflow;
  const next = links.filter(({ from }) => from === node.name).map(({ to }) => nodes.get(to));
  return next.length > 0 && next.every((each) => each !== undefined && takesFile(each));
}

function takesFile({ kind, parameters }: N8nNode): boolean {
  const isPdf = kind === 'extractFromFile' && parameterAt(parameters, 'operation') === 'pdf';
  return isPdf || kind === 'readPDF' || kind === 'editImage';
}

/**
 * The file that the item has under the name in a parameter.
 * @throws Unmappable if it has none
 */
function fileOf(step: Step, parameter: string): JsonValue {
  const { input, compiler, scope } = step;
  const name = step.text(parameter, 'data') || 'data';
  const isGiven =
    input?.owner !== undefined && input.owner !== null && GIVERS.get(compiler)?.has(input.owner);
  const path = input !== null && isGiven === true ? memberPath(compiler.refIn(input, scope), [name]) : null;
  if (path === null) throw new Unmappable(message('import.no_files'));
  return template(path);
}

/** The text of a PDF file, as "Extract from File" and the older "Read PDF" give it. */
export function readPdf(step: Step): readonly Out[] {
  const skipped = ['options.joinPages', 'options.password', 'password'].filter(
    (path) => step.raw(path) !== undefined && step.raw(path) !== true && step.raw(path) !== '',
  );
  if (skipped.length > 0 || step.raw('encrypted') === true) {
    step.approximate(message('import.pdf_settings'));
  }
  const id = step.add('file.pdf_text', {
    file: fileOf(step, 'binaryPropertyName'),
    ...pagesOf(step.raw('options.maxPages')),
  });
  return [step.one(`nodes.${id}.output`, { text: ['text'], numpages: ['page_count'], info: ['info'] })];
}

function pagesOf(given: JsonValue | undefined): JsonObject {
  const pages = Number(given ?? 0);
  return Number.isInteger(pages) && pages >= 1 && pages <= 5_000 ? { limit: pages } : {};
}

/** Others scale by percent, or to at least a size. */
const FITS: { readonly [option: string]: string | undefined } = {
  maximumArea: 'inside',
  onlyIfLarger: 'inside',
  ignoreAspectRatio: 'stretch',
};

function editImage(step: Step): readonly Out[] {
  const operation = step.text('operation', 'border');
  const file = fileOf(step, 'dataPropertyName');
  if (operation === 'information') {
    const id = step.add('file.image', { operation: 'info', file });
    return [
      step.one(`nodes.${id}.output`, {
        format: ['format'],
        'size.width': ['width'],
        'size.height': ['height'],
      }),
    ];
  }
  const steps =
    operation === 'multiStep' ? stepsOf(step.raw('operations.operations')) : [operationOf(step, operation)];
  const config = steps === null ? null : settingsOf(step, steps);
  if (config === null) throw new Unmappable(message('import.unknown_operation', { operation }));
  const id = step.add('file.image', { file, ...config, ...outputOf(step) });
  noteFile(step, id);
  const name = step.text('dataPropertyName', 'data') || 'data';
  return [step.one(`nodes.${id}.output`, { [name]: ['file'] })];
}

function operationOf(step: Step, operation: string): JsonObject {
  return { ...step.node.parameters, operation };
}

function stepsOf(given: JsonValue | undefined): readonly JsonObject[] | null {
  return Array.isArray(given) ? (given as readonly JsonValue[]).filter(isJsonObject) : null;
}

/** Where each operation stands in the node, which cuts out first, then turns, then scales. */
const ORDER = ['crop', 'rotate', 'resize'];

/** Null: what the node can't do, or not in this order. */
function settingsOf(step: Step, steps: readonly JsonObject[]): JsonObject | null {
  const places = steps.map(({ operation }) => ORDER.indexOf(typeof operation === 'string' ? operation : ''));
  if (places.some((place, at) => place === -1 || place <= (places[at - 1] ?? -1))) return null;
  let config: JsonObject = {};
  for (const given of steps) {
    const settings = settingsOfOne(step, given);
    if (settings === null) return null;
    config = { ...config, ...settings };
  }
  return config;
}

function settingsOfOne(step: Step, given: JsonObject): JsonObject | null {
  const value = (name: string, otherwise: number) => step.value(given[name] ?? otherwise);
  switch (given.operation) {
    case 'crop':
      return {
        crop_x: value('positionX', 0),
        crop_y: value('positionY', 0),
        crop_width: value('width', 500),
        crop_height: value('height', 500),
      };
    case 'rotate': {
      const degrees = ((Number(given.rotate ?? 0) % 360) + 360) % 360;
      return [0, 90, 180, 270].includes(degrees) ? { rotate: String(degrees) } : null;
    }
    case 'resize': {
      const option = typeof given.resizeOption === 'string' ? given.resizeOption : 'maximumArea';
      const fit = FITS[option];
      if (fit === undefined) return null;
      if (option === 'maximumArea') step.approximate(message('import.image_fits'));
      return { width: value('width', 500), height: value('height', 500), fit };
    }
    default:
      return null;
  }
}

function outputOf(step: Step): JsonObject {
  const format = step.text('options.format').replace('jpg', 'jpeg');
  const quality = Number(step.raw('options.quality'));
  const name = step.param('options.fileName', '');
  if (!['', 'jpeg', 'png', 'webp'].includes(format)) {
    throw new Unmappable(message('import.unknown_operation', { operation: format }));
  }
  return {
    ...(format === '' ? {} : { format }),
    ...(quality >= 1 && quality <= 100 ? { quality } : {}),
    ...(name === '' ? {} : { name }),
  };
}
