import type { JsonObject } from '@millrace/engine';
import { filesOfCode } from '@millrace/importer-expressions/code-files';
import { extend, quote, template } from '@millrace/importer-kit/refs';
import type { Out } from '../compiler.ts';
import type { Step } from '../step.ts';
import { withFilesBeside } from './late-files.ts';

/** Code of a Code node, with what it does with files. */
export interface CodeWithFiles {
  readonly code: string;
  /** What has to come before it. */
  readonly prelude: string;
  /** The code without what reads files, if they are given to it: nothing foreign is left of it. */
  readonly readable: string;
  readonly input: JsonObject;
  readonly passes: boolean;
  readonly keepsCount: boolean;
  readonly makes: readonly string[];
}

/** As many files are read for code: each is in its input. */
const MAX_READ = 5;

/** A file's bytes, as n8n's helper returns them. */
const BUFFER_OF =
  /(?:await\s+)?\bthis\.helpers\.getBinaryDataBuffer\(\s*(?:0|i|index|itemIndex|\$itemIndex)\s*,\s*(?:(['"])(\w+)\1|([A-Za-z_$][\w$.]*))\s*\)/g;

const PREPARE = /(?:await\s+)?\bthis\.helpers\.prepareBinaryData\b/g;

/** What makes the items of code have their files; there is one item. */
const GIVE = `const $binary = input.files;
for (const each of [item, ...items, $input.item, ...$input.all()]) if (each != null) each.binary = input.files;
`;

/** What n8n's helper makes of bytes. */
const PREPARED = `const prepareFile = (bytes, fileName, mimeType) => ({ data: typeof bytes === 'string' ? btoa(bytes) : Buffer.from(bytes).toString('base64'), fileName, mimeType });
`;

/** Gives code the content of the files that it reads, in base64 as n8n does, if its only item has them. */
export function codeWithFiles(step: Step, given: string): CodeWithFiles {
  const found = filesOfCode(given);
  const { passes = false, keepsCount = false, makes = [], reads = 'none' } = found ?? {};
  const plain = found?.code ?? given;
  const files = step.input?.kind === 'one' ? (step.input.files ?? {}) : {};
  const names = namesOf(files);
  const isRead = reads === 'own' || plain.includes('getBinaryDataBuffer');
  const isGiven = isRead && reads !== 'others' && names.length > 0;
  const code = plain
    .replace(PREPARE, 'prepareFile')
    .replace(BUFFER_OF, (call, _quote, name: string | undefined, variable = '') =>
      isGiven
        ? `Buffer.from(input.files[${name === undefined ? variable : quote(name)}].data, "base64")`
        : call,
    );
  const prelude = `${isGiven ? GIVE : ''}${code.includes('prepareFile') ? PREPARED : ''}`;
  const readable = isGiven ? code.replaceAll(/\.binary\b|\$binary\b/g, '') : code;
  if (!isGiven) return { code, prelude, readable, input: {}, passes, keepsCount, makes };
  const named = names.filter((name) => code.includes(name));
  const used = (named.length === 0 ? names : named).slice(0, MAX_READ);
  const input = { files: Object.fromEntries(used.map((name) => [name, contentOf(step, files[name] ?? '')])) };
  return { code, prelude, readable, input, passes, keepsCount, makes };
}

/** One name for each file: a form has several for each, of which n8n's own has no spaces. */
function namesOf(files: { readonly [name: string]: string }): readonly string[] {
  const byPath = Map.groupBy(Object.keys(files), (name) => files[name] ?? '');
  return [...byPath.values()].flatMap((each) => each.find((name) => /^\w+$/.test(name)) ?? each[0] ?? []);
}

function contentOf(step: Step, given: string): JsonObject {
  const file = step.readFile(given);
  const id = step.add('file.read', { file: template(file), format: 'base64' }, { suffix: 'file' });
  return {
    data: template(`nodes.${id}.output.base64`),
    fileName: template(extend(file, ['name'])),
    mimeType: template(extend(file, ['type'])),
    fileSize: template(extend(file, ['size'])),
  };
}

/** Code that makes a list of items with files: what it returns in base64 is beside the list. */
export function madeFileList(step: Step, body: string, { input, makes }: CodeWithFiles): Out {
  const code = step.addCode(
    `${body}\nconst files = (Array.isArray(out) ? out : [out]).filter((each) => (each?.json ?? each) != null).map((each) => each?.binary ?? {});\nreturn { results, files };`,
    { input },
  );
  const result = `nodes.${code}.output.result`;
  return withFilesBeside(step.compiler, step.many(`${result}.results`), `${result}.files`, makes);
}

/** Code that makes files: what it returns in base64 is written. */
export function madeFiles(step: Step, body: string, { input, makes, passes }: CodeWithFiles): Out {
  const code = step.addCode(
    `${body}\nconst files = (Array.isArray(out) ? out[0] : out)?.binary ?? {};\nreturn { results, files };`,
    { input },
  );
  const result = `nodes.${code}.output.result`;
  let out = step.one(`${result}.results[0]`);
  if (passes) out = { ...out, ref: { ...out.ref, files: step.input?.files ?? {} } };
  for (const name of makes.slice(0, MAX_READ)) {
    const made = extend(`${result}.files`, [name]);
    const id = step.add(
      'file.write',
      {
        format: 'base64',
        name: template(`${extend(made, ['fileName'])} | default: "file.bin"`),
        data: template(extend(made, ['data'])),
      },
      { suffix: makes.length === 1 ? 'file' : name },
    );
    const path = out.ref.path;
    out = step.withFile({ ...step.one(path), ref: { ...out.ref, path } }, name, `nodes.${id}.output.file`);
  }
  return out;
}
