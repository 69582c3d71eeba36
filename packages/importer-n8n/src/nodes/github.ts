import { type JsonValue, own } from '@millrace/engine';
import { template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import type { Step } from '../step.ts';
import { AUTH } from './parts.ts';
import { fillUrl } from './service-call.ts';

const METHODS: { readonly [operation: string]: string } = { create: 'PUT', edit: 'PUT', delete: 'DELETE' };

/** A file of a repository is made, changed or deleted; null for any other operation. */
export function githubFile(step: Step): readonly Out[] | null {
  const operation = step.text('operation', 'create');
  const method = own(METHODS, operation);
  if (step.text('resource', 'issue') !== 'file' || method === undefined) return null;
  step.approximate(message('import.called_by_hand'));
  step.approximate(message('import.choose_credential'));
  const url = fillUrl(step, 'https://api.github.com/repos/{owner}/{repository}/contents/{filePath}');
  const branch = step.param('additionalParameters.branch.branch', '');
  const content: { [name: string]: JsonValue } = method === 'PUT' ? { content: contentOf(step) } : {};
  // GitHub wants to be told which state of the file is replaced.
  const before =
    operation === 'create'
      ? null
      : step.add(
          'http.request',
          { url, auth: AUTH, ...(branch === '' ? {} : { query: { ref: branch } }) },
          { suffix: 'before' },
        );
  const id = step.add('http.request', {
    method,
    url,
    auth: AUTH,
    body: {
      message: step.param('commitMessage', ''),
      ...content,
      ...(before === null ? {} : { sha: template(`nodes.${before}.output.body.sha`) }),
      ...(branch === '' ? {} : { branch }),
    },
  });
  return [step.one(`nodes.${id}.output.body`)];
}

/** In base64, as GitHub takes it. */
function contentOf(step: Step): JsonValue {
  if (step.raw('binaryData') !== true)
    return step.computed(
      `btoa(Array.from(new TextEncoder().encode(String(${step.source(step.raw('fileContent') ?? '')})), (byte) => String.fromCharCode(byte)).join(""))`,
    );
  const file = step.file(step.text('binaryPropertyName', 'data') || 'data');
  const read = step.add('file.read', { file: template(file), format: 'base64' }, { suffix: 'file' });
  return template(`nodes.${read}.output.base64`);
}
