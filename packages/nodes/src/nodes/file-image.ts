import { type ContentTask, success } from '@millrace/engine';
import { choice } from '@millrace/node-kit/choice';
import { checkedNode } from '@millrace/node-kit/define';
import { type Static, type TObject, Type } from 'typebox';
import { FILE_NODE_TIMEOUT_MS, fileProperty, fileTimeoutProperty } from '../files/config.ts';
import { workOn } from '../files/work-on.ts';

const WHEN_CHANGE = { operation: ['change'] };
const MAX_SIDE = 20_000;

const side = (title: string, description: string) =>
  Type.Integer({ title, description, minimum: 0, maximum: MAX_SIDE, default: 0, 'x-when': WHEN_CHANGE });

const properties = {
  operation: choice(
    'Operation',
    'Changing it makes another image.',
    { change: 'Change the image', info: 'Read size and format' },
    { default: 'change' },
  ),
  file: fileProperty('The image: JPEG, PNG or WebP. Usually a template such as {{trigger.data.file}}.'),
  width: side('Width', 'In pixels. 0: it follows from the height, or stays.'),
  height: side('Height', 'In pixels. 0: it follows from the width, or stays.'),
  fit: choice(
    'Fit',
    'Inside: as large as fits, never larger than it was. Cover: exactly this size; what sticks out is cut off. Stretch: exactly this size, distorted.',
    { inside: 'Inside', cover: 'Cover', stretch: 'Stretch' },
    { default: 'inside', 'x-when': WHEN_CHANGE },
  ),
  rotate: choice(
    'Rotate',
    'Clockwise. Photos are turned upright by themselves.',
    { '0': 'Not at all', '90': '90°', '180': '180°', '270': '270°' },
    { default: '0', 'x-when': WHEN_CHANGE },
  ),
  format: choice(
    'Format',
    'Of the new image. JPEG has no transparency: it becomes white.',
    { same: 'As it was', jpeg: 'JPEG', png: 'PNG', webp: 'WebP' },
    { default: 'same', 'x-when': WHEN_CHANGE },
  ),
  quality: Type.Integer({
    title: 'Quality',
    description: 'Of JPEG and WebP: 100 is the best, and the largest.',
    minimum: 1,
    maximum: 100,
    default: 80,
    'x-when': WHEN_CHANGE,
  }),
  name: Type.String({
    title: 'Name',
    description: 'The name of the new image. Empty: that of the image.',
    default: '',
    maxLength: 200,
    'x-when': WHEN_CHANGE,
  }),
  crop_x: side('Cut from left', 'Pixels that are cut off at the left.'),
  crop_y: side('Cut from top', 'Pixels that are cut off at the top.'),
  crop_width: side('Width of the part', 'In pixels. 0: up to the right edge.'),
  crop_height: side('Height of the part', 'In pixels. 0: up to the bottom edge.'),
  timeout_ms: fileTimeoutProperty,
};

type Config = Static<TObject<typeof properties>>;

export const fileImage = checkedNode({
  type: 'file.image',
  title: 'Change image',
  description:
    'Resizes, crops, rotates or converts an image of up to 32 MiB and 20 million pixels. The new image has no metadata: neither place, time nor camera. The output is {file, format, width, height}; of info {format, width, height, size, orientation, has_metadata, exif}, where exif says when, where and with what a photo was taken.',
  icon: 'image',
  kind: 'effect',
  properties,
  required: ['file'],
  defaultTimeoutMs: FILE_NODE_TIMEOUT_MS,
  form: {
    main: ['operation', 'file', 'width', 'height', 'fit', 'rotate', 'format', 'quality', 'name'],
    sections: [
      { title: 'Cut out a part', fields: ['crop_x', 'crop_y', 'crop_width', 'crop_height'] },
      { title: 'Limits', fields: ['timeout_ms'] },
    ],
  },
  synonyms: [
    'resize',
    'crop',
    'rotate',
    'convert image',
    'thumbnail',
    'edit image',
    'picture',
    'photo',
    'exif',
  ],
  examples: [
    {
      title: 'Size of a picture',
      config: { operation: 'info', file: '{{trigger.data.file}}' },
      trigger: { file: { $file: '00000000-0000-4000-8000-000000000005', name: 'dot.png' } },
      expect: {
        output: {
          format: 'png',
          width: 1,
          height: 1,
          size: 69,
          orientation: 1,
          has_metadata: false,
          exif: null,
        },
      },
    },
    {
      title: 'What is not a picture',
      config: { file: '{{trigger.data.file}}', width: 100 },
      trigger: { file: { $file: '00000000-0000-4000-8000-000000000002' } },
      expect: { failure: { code: 'invalid_data' } },
    },
  ],
  async run(config, context) {
    const file = await context.files.open(config.file);
    return success(await workOn(taskOf(config), [file], config.timeout_ms, context));
  },
});

function taskOf(config: Config): ContentTask {
  if (config.operation === 'info') return { kind: 'image_info' };
  const { width, height, fit, rotate, format, quality, name } = config;
  const { crop_x: x, crop_y: y, crop_width: cutWidth, crop_height: cutHeight } = config;
  const isCut = x + y + cutWidth + cutHeight > 0;
  return {
    ...{ kind: 'image_change', width, height, fit, quality, name },
    quarters: Number(rotate) / 90,
    format: format === 'same' ? null : format,
    area: isCut ? { x, y, width: cutWidth, height: cutHeight } : null,
  };
}
