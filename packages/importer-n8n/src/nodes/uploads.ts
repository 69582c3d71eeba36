import type { JsonValue } from '@millrace/engine';
import { extend, inUrl, template } from '@millrace/importer-kit/refs';
import { SERVICES } from '@millrace/importer-services/services';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { asText } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';
import { AUTH } from './parts.ts';
import { CONVERTERS } from './service-values.ts';

/** Uploads that take several requests, which know where to only from each other; null if a node does something else. */
export function upload(step: Step): readonly Out[] | null {
  const { kind } = step.node;
  const resource = step.text('resource');
  const operation = step.text('operation');
  if (kind === 'youTube' && resource === 'video' && operation === 'upload') return uploadVideo(step);
  if (kind === 'linkedIn' && step.text('shareMediaCategory', 'NONE') === 'IMAGE') return postImage(step);
  const isUpload = operation === 'upload' || operation === '';
  if (kind === 'dropbox' && isUpload && (resource === 'file' || resource === '')) return toDropbox(step);
  if (kind === 'slack' && resource === 'file' && isUpload) return toSlack(step);
  return null;
}

/** The file that a node sends. */
function fileOf(step: Step, ...paths: readonly string[]): string {
  const name = paths.map((path) => step.text(path)).find((each) => each !== '');
  return step.file(name ?? 'data');
}

function calledByHand(step: Step): void {
  step.approximate(message('import.called_by_hand'));
  step.approximate(message('import.choose_credential'));
}

/** Without members that aren't set. */
function set(members: { readonly [name: string]: JsonValue }): { [name: string]: JsonValue } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== ''));
}

function uploadVideo(step: Step): readonly Out[] {
  calledByHand(step);
  const file = fileOf(step, 'binaryProperty', 'binaryPropertyName');
  const tags = step.raw('options.tags');
  const begun = step.add(
    'http.request',
    {
      method: 'POST',
      url: 'https://www.googleapis.com/upload/youtube/v3/videos',
      query: { uploadType: 'resumable', part: 'snippet,status' },
      auth: AUTH,
      headers: { 'X-Upload-Content-Type': template(extend(file, ['type'])) },
      body: {
        snippet: set({
          title: step.param('title', ''),
          description: step.param('options.description', ''),
          categoryId: step.chosen('categoryId'),
          defaultLanguage: step.param('options.defaultLanguage', ''),
          tags:
            tags === undefined || tags === ''
              ? null
              : step.computed(`String(${step.source(tags)}).split(',').map((tag) => tag.trim())`),
        }),
        status: set({
          privacyStatus: step.param('options.privacyStatus', ''),
          embeddable: step.param('options.embeddable', null),
          license: step.param('options.license', ''),
          publicStatsViewable: step.param('options.publicStatsViewable', null),
          selfDeclaredMadeForKids: step.param('options.selfDeclaredMadeForKids', null),
          publishAt: step.param('options.publishAt', ''),
        }),
      },
    },
    { suffix: 'begin' },
  );
  const id = step.add('http.request', {
    method: 'PUT',
    url: `{{nodes.${begun}.output.headers.location}}`,
    auth: AUTH,
    body: template(file),
    body_type: 'file',
    timeout_ms: 300_000,
  });
  return [step.one(`nodes.${id}.output.body`, { '': [], uploadId: ['id'] })];
}

function postImage(step: Step): readonly Out[] {
  calledByHand(step);
  const file = fileOf(step, 'binaryPropertyName');
  const author = CONVERTERS.linkedin_author?.(step, 'person') ?? '';
  const headers = { ...SERVICES.linkedIn?.headers };
  const api = 'https://api.linkedin.com/rest';
  const begun = step.add(
    'http.request',
    {
      method: 'POST',
      url: `${api}/images`,
      query: { action: 'initializeUpload' },
      auth: AUTH,
      headers,
      body: { initializeUploadRequest: { owner: author } },
    },
    { suffix: 'begin' },
  );
  const value = `nodes.${begun}.output.body.value`;
  step.add(
    'http.request',
    {
      method: 'PUT',
      url: template(`${value}.uploadUrl`),
      auth: AUTH,
      body: template(file),
      body_type: 'file',
      timeout_ms: 120_000,
    },
    { suffix: 'image' },
  );
  const id = step.add('http.request', {
    method: 'POST',
    url: `${api}/posts`,
    auth: AUTH,
    headers,
    body: {
      author,
      commentary: step.param('text', ''),
      visibility: step.param('additionalFields.visibility', 'PUBLIC'),
      distribution: { feedDistribution: 'MAIN_FEED' },
      content: {
        media: set({ id: template(`${value}.image`), title: step.param('additionalFields.title', '') }),
      },
      lifecycleState: 'PUBLISHED',
    },
  });
  return [step.one(`nodes.${id}.output`, { urn: ['headers', 'x-restli-id'] })];
}

function toDropbox(step: Step): readonly Out[] {
  calledByHand(step);
  const isFile = step.raw('binaryData') === true;
  const mode = step.raw('overwrite') === true ? 'overwrite' : 'add';
  // Headers take ASCII only.
  const argument = step.computed(
    `JSON.stringify({ path: String(${step.source(step.raw('path') ?? '')}), mode: ${JSON.stringify(mode)} }).replace(/[\\u007f-\\uffff]/g, (sign) => '\\\\u' + sign.charCodeAt(0).toString(16).padStart(4, '0'))`,
  );
  const id = step.add('http.request', {
    method: 'POST',
    url: 'https://content.dropboxapi.com/2/files/upload',
    auth: AUTH,
    headers: { 'Dropbox-API-Arg': argument, 'Content-Type': 'application/octet-stream' },
    body: isFile ? template(fileOf(step, 'binaryPropertyName')) : asText(step.param('fileContent', '')),
    body_type: isFile ? 'file' : 'text',
    timeout_ms: 120_000,
  });
  return [step.one(`nodes.${id}.output.body`)];
}

function toSlack(step: Step): readonly Out[] {
  if (step.node.version < 2 && step.raw('binaryData') !== true)
    throw new Unmappable(message('import.unknown_operation', { operation: 'file.upload (text)' }));
  calledByHand(step);
  const file = fileOf(step, 'binaryPropertyName');
  const given = step.param('options.fileName', '');
  const name = given === '' ? template(extend(file, ['name'])) : given;
  const place = step.add(
    'http.request',
    {
      url: 'https://slack.com/api/files.getUploadURLExternal',
      query: { filename: name, length: template(extend(file, ['size'])) },
      auth: AUTH,
    },
    { suffix: 'place' },
  );
  const body = `nodes.${place}.output.body`;
  step.add(
    'http.request',
    { method: 'POST', url: template(`${body}.upload_url`), body: template(file), body_type: 'file' },
    { suffix: 'content' },
  );
  const channels = step.raw('options.channelIds');
  const [first] = Array.isArray(channels) ? (channels as readonly JsonValue[]) : [];
  const id = step.add('http.request', {
    method: 'POST',
    url: 'https://slack.com/api/files.completeUploadExternal',
    auth: AUTH,
    body: {
      files: [set({ id: template(`${body}.file_id`), title: step.param('options.title', '') })],
      ...set({
        channel_id: first === undefined ? step.chosen('options.channelId') : step.value(first),
        initial_comment: step.param('options.initialComment', ''),
        thread_ts: step.param('options.thread_ts', ''),
      }),
    },
  });
  return [step.one(`nodes.${id}.output.body.files[0]`)];
}

/** Amazon S3 by its connector, in the region that a constant names. */
export function amazonS3(step: Step): readonly Out[] {
  const resource = step.text('resource', 'file');
  const operation = `${resource}.${step.text('operation', resource === 'file' ? 'upload' : 'create')}`;
  const region = 'aws_region';
  step.compiler.variables.add(region);
  step.approximate(message('import.set_constant', { name: region }));
  step.approximate(message('import.choose_credential'));
  const place = { credential_id: 0, region: template(`vars.${region}`) };
  const all = step.raw('returnAll') === true ? 10_000 : Number(step.raw('limit') ?? 100);
  const limit = Number.isInteger(all) ? Math.min(Math.max(all, 1), 10_000) : 100;
  const at = (name: string) => ({
    ...place,
    bucket: step.param('bucketName', ''),
    key: step.param(name, ''),
  });
  switch (operation) {
    case 'file.upload': {
      const isFile = step.raw('binaryData') !== false;
      const content = isFile
        ? { file: template(fileOf(step, 'binaryPropertyName')) }
        : { text: asText(step.param('fileContent', '')) };
      const id = step.add(isFile ? 'connector.s3.upload_file' : 'connector.s3.upload_text', {
        ...at('fileName'),
        ...content,
      });
      return [step.one(`nodes.${id}.output`)];
    }
    case 'file.download': {
      const id = step.add('connector.s3.download_file', at('fileKey'));
      const name = step.text('binaryPropertyName', 'data') || 'data';
      return [step.withFile(step.one(`nodes.${id}.output`, {}), name, `nodes.${id}.output.file`)];
    }
    case 'file.delete':
      return [
        step.one(`nodes.${step.add('connector.s3.delete_file', at('fileKey'))}.output`, {
          success: ['deleted'],
        }),
      ];
    case 'file.getAll': {
      const prefix = step.param('options.folderKey', '');
      const id = step.add('connector.s3.list_files', {
        ...place,
        bucket: step.param('bucketName', ''),
        ...(prefix === '' ? {} : { prefix }),
        limit,
      });
      return [step.many(`nodes.${id}.output.items`)];
    }
    case 'file.copy': {
      const [source, target] = ['sourcePath', 'destinationPath'].map((path) => pathParts(step, path));
      const id = step.add('connector.s3.copy_file', {
        ...place,
        source_bucket: source?.bucket ?? '',
        source_key: source?.key ?? '',
        bucket: target?.bucket ?? '',
        key: target?.key ?? '',
      });
      return [step.one(`nodes.${id}.output`, { ETag: ['etag'] })];
    }
    case 'bucket.getAll': {
      const id = step.add('connector.s3.list_buckets', { ...place, limit });
      return [step.many(`nodes.${id}.output.items`)];
    }
    default:
      throw new Unmappable(message('import.unknown_operation', { operation }));
  }
}

/** A bucket and a key, which n8n writes as one path. */
function pathParts(step: Step, path: string): { readonly bucket: JsonValue; readonly key: JsonValue } {
  const value = step.param(path, '');
  const [, bucket, key] = (typeof value === 'string' && /^\/?([^/{}]+)\/([\s\S]+)$/.exec(value)) || [];
  if (bucket !== undefined && key !== undefined) return { bucket, key };
  const parts = (from: string) =>
    step.computed(`String(${step.source(step.raw(path) ?? '')}).replace(/^\\//, '').split('/')${from}`);
  return { bucket: parts('[0]'), key: parts(".slice(1).join('/')") };
}

/** Files of a store that speaks S3, at an address of its own: the requests, signed as those to Amazon are. */
export function ownS3(step: Step): readonly Out[] {
  const resource = step.text('resource', 'file');
  const operation = `${resource}.${step.text('operation', resource === 'file' ? 'upload' : 'create')}`;
  const address = 's3_url';
  const at = (name: string) => {
    step.compiler.variables.add(address);
    step.approximate(message('import.set_constant', { name: address }));
    calledByHand(step);
    const place = [step.param('bucketName', ''), step.param(name, '')].map((part) => keyInUrl(asText(part)));
    return { url: `${template(`vars.${address}`)}/${place.join('/')}`, auth: AUTH };
  };
  switch (operation) {
    case 'file.upload': {
      const isFile = step.raw('binaryData') !== false;
      const content = isFile
        ? { body: template(fileOf(step, 'binaryPropertyName')), body_type: 'file' }
        : { body: asText(step.param('fileContent', '')), body_type: 'text' };
      const id = step.add('http.request', { method: 'PUT', ...at('fileName'), ...content });
      return [step.one(`nodes.${id}.output`, {})];
    }
    case 'file.download': {
      const id = step.add('http.request', { ...at('fileKey'), response_type: 'file' });
      const name = step.text('binaryPropertyName', 'data') || 'data';
      return [step.withFile(step.one(`nodes.${id}.output`, {}), name, `nodes.${id}.output.body`)];
    }
    case 'file.delete': {
      const id = step.add('http.request', { method: 'DELETE', ...at('fileKey') });
      return [step.one(`nodes.${id}.output`, {})];
    }
    default:
      throw new Unmappable(message('import.unknown_operation', { operation }));
  }
}

/** Slashes of a key stay, unless it is known only when it runs: stores read both. */
function keyInUrl(key: string): string {
  return key.includes('{{') ? inUrl(key) : key.split('/').map(encodeURIComponent).join('/');
}
