import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { insideOf, template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { forItem, type Handlers } from '../handler.ts';
import { type Step, Unmappable } from '../step.ts';

/** Nodes that change images. */
export const IMAGES: Handlers = { editImage: forItem(editImage) };

/** Others scale by percent, or to at least a size. */
const FITS: { readonly [option: string]: string | undefined } = {
  maximumArea: 'inside',
  onlyIfLarger: 'inside',
  ignoreAspectRatio: 'stretch',
};

function editImage(step: Step): readonly Out[] {
  const operation = step.text('operation', 'border');
  const name = step.text('dataPropertyName', 'data') || 'data';
  const file = template(step.file(name));
  if (operation === 'information') {
    const id = step.add('file.image', { operation: 'info', file });
    const out = step.one(`nodes.${id}.output`, {
      format: ['format'],
      'size.width': ['width'],
      'size.height': ['height'],
    });
    return [step.withFile(out, name, insideOf(file) ?? '')];
  }
  const steps =
    operation === 'multiStep' ? stepsOf(step.raw('operations.operations')) : [operationOf(step, operation)];
  const config = steps === null ? null : settingsOf(step, steps);
  if (config === null) throw new Unmappable(message('import.unknown_operation', { operation }));
  const id = step.add('file.image', { file, ...config, ...outputOf(step) });
  return [step.withFile(step.one(`nodes.${id}.output`, {}), name, `nodes.${id}.output.file`)];
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
