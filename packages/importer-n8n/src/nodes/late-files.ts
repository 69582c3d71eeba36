import { quote, type Ref, template } from '@millrace/importer-kit/refs';
import type { Adding, Compiler, Out } from '../compiler.ts';
import { type N8nNode, parameterOf, textOf } from '../read.ts';
import { AUTH } from './parts.ts';

type Files = { readonly [name: string]: string };

/** As many attachments of a mail can be read by their number. */
const ATTACHMENTS = 10;

function numbered(prefix: string, make: (index: number) => string): Files {
  return Object.fromEntries(
    Array.from({ length: ATTACHMENTS }, (_, index) => [`${prefix}${index}`, make(index)]),
  );
}

/** Whether a node of Gmail or Outlook downloads attachments, and how it names them; null if not. */
function prefixOf(node: N8nNode): string | null {
  const { parameters } = node;
  const isAsked =
    parameterOf(node, 'options.downloadAttachments') === true || parameters.downloadAttachments === true;
  const own = parameterOf(node, 'options.dataPropertyAttachmentsPrefixName');
  const other = parameterOf(node, 'options.attachmentsPrefix');
  if (!isAsked) return null;
  return (
    textOf(own) ?? textOf(other) ?? textOf(parameters.dataPropertyAttachmentsPrefixName) ?? 'attachment_'
  );
}

/** Attachments in the parts of a message of Gmail. */
const OF_GMAIL = `const open = [input.message?.payload ?? {}], found = [];
while (open.length > 0) {
  const part = open.shift();
  if (part.filename && part.body?.attachmentId) found.push({ id: part.body.attachmentId, name: part.filename });
  open.push(...(part.parts ?? []));
}
return found[input.index] ?? { id: null };`;

const OF_OUTLOOK = `const found = (input.attachments ?? []).filter((each) => each.contentBytes)[input.index];
return found === undefined ? { id: null } : { id: found.id, name: found.name, data: found.contentBytes };`;

/** Reads one attachment, where something needs it first. Of a mail that doesn't have it, there is none. */
function readAttachment(compiler: Compiler, mail: Ref, kind: 'gmail' | 'outlook', index: number) {
  return (at: Adding): string => {
    const id = template(`${compiler.pathIn(mail, at.scope)}.id | url_encode`);
    const api =
      kind === 'gmail'
        ? `https://gmail.googleapis.com/gmail/v1/users/me/messages/${id}`
        : `https://graph.microsoft.com/v1.0/me/messages/${id}/attachments`;
    const got = at.add(
      'http.request',
      { url: api, ...(kind === 'gmail' ? { query: { format: 'full' } } : {}), auth: AUTH },
      { suffix: 'attachments' },
    );
    const body = `nodes.${got}.output.body`;
    const part = at.add(
      'core.code',
      kind === 'gmail'
        ? { code: OF_GMAIL, input: { message: template(body), index } }
        : { code: OF_OUTLOOK, input: { attachments: template(`${body}.value`), index } },
      { suffix: `attachment ${index}` },
    );
    const result = `nodes.${part}.output.result`;
    const isThere = at.add(
      'core.if',
      { conditions: [{ left: template(`${result}.id`), operator: 'is_not_empty' }] },
      { suffix: `has attachment ${index}?` },
    );
    at.continueFrom([{ id: isThere, handle: 'true' }]);
    const content =
      kind === 'gmail'
        ? `nodes.${at.add('http.request', { url: `${api}/attachments/${template(`${result}.id | url_encode`)}`, auth: AUTH }, { suffix: `content ${index}` })}.output.body.data | replace: "-", "+" | replace: "_", "/"`
        : `${result}.data`;
    const file = at.add(
      'file.write',
      { format: 'base64', name: template(`${result}.name`), data: template(content) },
      { suffix: `file ${index}` },
    );
    at.continueFrom([
      { id: isThere, handle: 'false' },
      { id: file, handle: 'out' },
    ]);
    return `nodes.${file}.output.file`;
  };
}

const MAILS: { readonly [kind: string]: 'gmail' | 'outlook' } = {
  gmail: 'gmail',
  gmailTrigger: 'gmail',
  microsoftOutlook: 'outlook',
  microsoftOutlookTrigger: 'outlook',
};

/** An output that passes mails on, with their attachments if the node downloads them. */
export function withAttachments(compiler: Compiler, node: N8nNode, out: Out): Out {
  const service = Object.hasOwn(MAILS, node.kind) ? MAILS[node.kind] : undefined;
  const prefix = service === undefined ? null : prefixOf(node);
  if (service === undefined || prefix === null) return out;
  const filesOf = (mail: Ref) =>
    numbered(prefix, (index) => compiler.lateFile(readAttachment(compiler, mail, service, index)));
  const { ref } = out;
  return {
    ...out,
    ref: ref.kind === 'one' ? { ...ref, files: filesOf(ref) } : { ...ref, each: compiler.eachFiles(filesOf) },
  };
}

/** Attachments that the trigger for mailboxes has as files already. */
export function listedFiles(prefix: string): Files {
  return numbered(prefix, (index) => `trigger.data.attachments[${index}]`);
}

/** A list of items whose files are in a list beside it, in base64: each is written where it is needed. */
export function withFilesBeside(compiler: Compiler, out: Out, list: string, names: readonly string[]): Out {
  const filesOf = (item: Ref): Files => {
    const write = (name: string) => (at: Adding) => {
      const index = compiler.pathIn(item, at.scope).replace(/item$/, 'index');
      const found = at.add(
        'core.code',
        {
          code: `return input.files[input.index]?.[${quote(name)}] ?? null;`,
          input: { files: template(list), index: template(index) },
        },
        { suffix: `${name} in base64` },
      );
      const made = `nodes.${found}.output.result`;
      const file = at.add(
        'file.write',
        {
          format: 'base64',
          name: template(`${made}.fileName | default: "file.bin"`),
          data: template(`${made}.data`),
        },
        { suffix: name },
      );
      return `nodes.${file}.output.file`;
    };
    return Object.fromEntries(names.map((name) => [name, compiler.lateFile(write(name))]));
  };
  return { ...out, ref: { ...out.ref, each: compiler.eachFiles(filesOf) } };
}

/** The names by which nodes of a workflow read files. */
function namesRead(compiler: Compiler): readonly string[] {
  const names = new Set(['data', 'data0', 'file', 'file0']);
  const text = JSON.stringify([...compiler.workflow.nodes.values()].map(({ parameters }) => parameters));
  const written =
    /"(?:binaryPropertyName|inputDataFieldName|binaryProperty|binaryDataKey|attachments|mediaPropertyName)":"=?(\w[\w -]*)"|\bbinary(?:\?)?\.(\w+)/g;
  for (const [, setting, member] of text.matchAll(written)) names.add(setting ?? member ?? 'data');
  return [...names].slice(0, 50);
}

/** Files that a call brings: fields of a form by their names, as n8n counts them, or the whole body. */
export function filesOfCall(compiler: Compiler): Files {
  const pick = (name: string) => (at: Adding) => {
    const id = at.add(
      'core.code',
      {
        code: `const isFile = (value) => typeof value?.$file === 'string';
const { data, name } = input;
if (isFile(data)) return data;
const [, base, digits] = /^(.*?)(\\d*)$/.exec(name), at = Number(digits || 0);
const all = Object.values(data ?? {}).flat().filter(isFile);
return [data?.[name], data?.[base]].flat().find(isFile) ?? all[at] ?? null;`,
        input: { data: '{{trigger.data}}', name },
      },
      { suffix: `file ${name}` },
    );
    return `nodes.${id}.output.result`;
  };
  return Object.fromEntries(namesRead(compiler).map((name) => [name, compiler.lateFile(pick(name))]));
}
