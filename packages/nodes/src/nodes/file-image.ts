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
    'Resizes, crops, rotates or converts an image of up to 32 MiB and 20 million pixels. The new image has no metadata: neither place, time nor camera. The output is {file, format, width, height}; of info {format, width, height, size, orientation, has_metadata, exif}. exif is what a photo says of itself, if anything: {taken_at, camera_make, camera_model, lens, software, exposure_s, f_number, iso, focal_length_mm, latitude, longitude, altitude_m}, each empty where it says nothing. taken_at is a date and time in ISO 8601, with an offset from UTC only if the camera knew it; exposure_s is in seconds, focal_length_mm in millimetres, altitude_m in metres above sea level; latitude and longitude are in degrees, positive in the north and east.',
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
      title: 'When, where and with what a photo was taken',
      config: { operation: 'info', file: '{{trigger.data.file}}' },
      trigger: { file: { $file: '00000000-0000-4000-8000-000000000006', name: 'mill.png' } },
      expect: {
        output: {
          format: 'png',
          width: 1,
          height: 1,
          size: 445,
          orientation: 1,
          has_metadata: true,
          exif: {
            taken_at: '2026-06-21T12:34:56+02:00',
            camera_make: 'Mill',
            camera_model: 'M1',
            lens: '35mm F2.8',
            software: '2.1',
            exposure_s: 0.004,
            f_number: 2.8,
            iso: 200,
            focal_length_mm: 35,
            latitude: 52.5,
            longitude: -13.26,
            altitude_m: 12.5,
          },
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
