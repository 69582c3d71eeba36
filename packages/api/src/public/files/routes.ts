import { notFound } from '@millrace/errors/errors';
import { principalOf } from '@millrace/http/context';
import { sendFile } from '@millrace/http/download';
import { withKeptFiles } from '@millrace/http/keep-files';
import { response } from '@millrace/http/responses';
import { addFileBodies, readUpload } from '@millrace/http/upload';
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { AppDeps } from '../../app-deps.ts';

const FileValueSchema = Type.Object(
  {
    $file: Type.String({ description: 'ID of the file, a UUID.' }),
    name: Type.String(),
    type: Type.String({ description: 'Media type, as its sender gave it.' }),
    size: Type.Integer({ minimum: 0, description: 'In bytes.' }),
    sha256: Type.String({ description: 'Of the content, in hexadecimal.' }),
  },
  { $id: 'File', additionalProperties: false },
);

const UploadQuery = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        maxLength: 1_000,
        description: 'Name of a file that is sent as the body; a part has its own.',
      }),
    ),
  },
  { additionalProperties: false },
);
type UploadQuery = Static<typeof UploadQuery>;

/** Uploading files for executions, and downloading theirs. */
export function fileRoutes(app: FastifyInstance, deps: AppDeps): void {
  app.addSchema(FileValueSchema);
  app.register(async (scope) => {
    addFileBodies(scope);
    addUpload(scope, deps);
  });
  addDownload(app, deps);
}

function addUpload(app: FastifyInstance, { files }: AppDeps): void {
  const schema = {
    operationId: 'uploadFile',
    summary: 'Upload a file',
    description:
      'Send its bytes as the body with their media type, or as a part named `file` of `multipart/form-data`. The response is the value to use in `input_data` of a start. A file that no execution uses is deleted after a day (`MILLRACE_UNUSED_FILES_HOURS`), others with the last execution that uses them.',
    tags: ['Files'],
    querystring: UploadQuery,
    response: { 201: response('The file.', Type.Ref('File#')) },
  };
  const options = {
    config: {
      scope: 'executions:execute',
      extension: true,
      takesFile: true,
      problems: ['file_too_large', 'storage_full', 'file_store_unavailable'],
    },
    schema,
  } as const;
  app.post<{ Querystring: UploadQuery }>('/api/v1/files', options, async (request, reply) => {
    const { organisationId } = principalOf(request);
    const value = await withKeptFiles(files, organisationId, request.log, (kept) =>
      readUpload(request, request.query.name, (file) => kept.keep(file)),
    );
    return reply.code(201).send(value);
  });
}

function addDownload(app: FastifyInstance, { files }: AppDeps): void {
  const schema = {
    operationId: 'downloadFile',
    summary: 'Download a file',
    description:
      'The content of a file of an execution, or of an upload. With `Range`, one range of its bytes; with `If-Range`, only if the `ETag` is still the same.',
    tags: ['Files'],
    response: {
      200: response('The content.', Type.String(), { mediaType: '*/*', headers: DOWNLOAD_HEADERS }),
      206: response('The range.', Type.String(), { mediaType: '*/*', headers: DOWNLOAD_HEADERS }),
    },
  };
  const options = {
    config: {
      scope: 'executions:read',
      extension: true,
      sendsFile: true,
      readsHeaders: {
        Range: 'One range of bytes, such as `bytes=0-1023`.',
        'If-Range': 'ETag of the content that the range belongs to.',
      },
      problems: ['range_not_satisfiable', 'file_store_unavailable'],
    },
    schema,
  } as const;
  app.get<{ Params: { file: string } }>('/api/v1/files/:file', options, async (request, reply) => {
    const { organisationId } = principalOf(request);
    const file = await files.find(organisationId, request.params.file);
    if (file === undefined) throw notFound('file');
    return sendFile(files, file, request, reply);
  });
}

const DOWNLOAD_HEADERS = {
  ETag: { type: 'string', description: 'SHA-256 of the content.' },
  'Content-Disposition': { type: 'string', description: 'Always an attachment, with the name of the file.' },
} as const;
