import { compileFunction } from 'node:vm';
import { problemsOf } from '@millrace/importer';
import { describe, expect, it } from 'vitest';
import { asText } from '../read.ts';
import { configOf, flowOf, n8n, outcomeOf, read, type Sketch, START } from '../testing.ts';

const GET: Sketch = { type: 'httpRequest', version: 4.2, parameters: { url: 'https://files.example.com/a' } };

/** Nodes one after the other. */
function chain(nodes: { readonly [name: string]: Sketch }) {
  const names = Object.keys(nodes);
  return read(
    n8n(
      nodes,
      names.slice(1).map((name, index) => [names[index] ?? '', name]),
    ),
  );
}

it('base64 of n8n becomes files, and files become base64', () => {
  const result = chain({
    Start: START,
    Make: {
      type: 'convertToFile',
      parameters: { operation: 'toBinary', sourceProperty: 'image.b64', options: { mimeType: 'image/png' } },
    },
    Read: { type: 'extractFromFile', parameters: { operation: 'binaryToPropery', destinationKey: 'again' } },
    Here: {
      type: 'set',
      version: 3.4,
      parameters: {
        assignments: { assignments: [{ name: 'x', type: 'string', value: '={{ $json.again }}' }] },
      },
    },
  });
  expect(configOf(result, 'Make')).toEqual({
    format: 'base64',
    name: 'file.png',
    data: '{{trigger.data.image.b64}}',
  });
  expect(configOf(result, 'Read')).toEqual({ file: '{{nodes.make.output.file}}', format: 'base64' });
  expect(configOf(result, 'Here')?.values).toEqual({ x: '{{nodes.read.output.base64}}' });
});

describe('code of n8n between files', () => {
  const between = (jsCode: string) =>
    chain({
      Start: START,
      Get: GET,
      Code: { type: 'code', version: 2, parameters: { jsCode } },
      Rows: { type: 'extractFromFile', parameters: { operation: 'csv' } },
    });

  it.each([
    'return [{ json: { name: $json.name }, binary: $input.item.binary }];',
    'const item = $input.first();\nreturn { binary: item.binary || {}, json: {} };',
    'return [{\n  json: items[0].json,\n  binary: items[0].binary,\n}];',
  ])('passes them on where it says no more than that: %s', (jsCode) => {
    const result = between(jsCode);
    expect(outcomeOf(result, 'Code')?.kind).toBe('mapped');
    expect(configOf(result, 'Code')?.code).not.toMatch(/\.\s*binary\b/);
    expect(configOf(result, 'Rows')?.file).toBe('{{nodes.get.output.body}}');
  });

  it.each([
    "return [{ json: { text: atob($('Get').first().binary.data.data) } }];",
    "const item = $('Start').first();\nreturn [{ json: {}, binary: item.binary }];",
    'for (const item of [1]) { return [{ json: { a: item.binary } }]; }',
  ])("isn't imported where it reads those of other items: %s", (jsCode) => {
    expect(outcomeOf(between(jsCode), 'Code')).toMatchObject({ kind: 'dropped' });
  });
});

describe('code of n8n that runs', () => {
  const GOT = { $file: 'x', name: 'a.txt', type: 'text/plain', size: 2, sha256: '' };
  const made = (jsCode: string, more: { readonly [name: string]: Sketch } = {}) =>
    chain({ Start: START, Get: GET, Code: { type: 'code', version: 2, parameters: { jsCode } }, ...more });
  const ROWS: Sketch = { type: 'extractFromFile', parameters: { operation: 'csv' } };

  /** What the code makes of one item with a file whose content is "hi". */
  async function outputOf(result: ReturnType<typeof made>): Promise<unknown> {
    const { code, input } = configOf(result, 'Code') ?? {};
    const filled = JSON.parse(
      JSON.stringify(input)
        .replaceAll('{{nodes.code_file.output.base64}}', 'aGk=')
        .replaceAll('{{nodes.get.output.body.name}}', GOT.name)
        .replaceAll('{{nodes.get.output.body.type}}', GOT.type),
    );
    const compiled = compileFunction(`return (async () => {${asText(code)}})();`, ['input']);
    return JSON.parse(JSON.stringify(await (compiled(filled) as Promise<unknown>)));
  }

  it.each([
    'return [{ json: { text: atob($input.item.binary.data.data), name: $input.first().binary.data.fileName } }];',
    'const item = $input.all()[0];\nconst { data } = item.binary;\nreturn [{ json: { text: atob(data.data), name: data.fileName } }];',
    'return items.map((each) => ({ json: { text: atob(each.binary.data.data), name: each.binary.data.fileName } }));',
    'const bytes = await this.helpers.getBinaryDataBuffer(0, "data");\nreturn { json: { text: bytes.toString(), name: $binary.data.fileName } };',
  ])('gets the content of a file: %s', async (jsCode) => {
    const result = made(jsCode, { Rows: ROWS });
    expect(configOf(result, 'Code: file')).toEqual({ file: '{{nodes.get.output.body}}', format: 'base64' });
    expect(await outputOf(result)).toEqual([{ text: 'hi', name: 'a.txt' }]);
  });

  it.each([
    "return [{ json: { a: 1 }, binary: { out: { data: Buffer.from('x,y').toString('base64'), fileName: 'b.csv', mimeType: 'text/csv' } } }];",
    "const out = await this.helpers.prepareBinaryData(Buffer.from('x,y'), 'b.csv', 'text/csv');\nreturn { json: { a: 1 }, binary: { out } };",
  ])('makes files, which the next node reads: %s', async (jsCode) => {
    const read = { ...ROWS, parameters: { operation: 'csv', binaryPropertyName: 'out' } };
    const result = made(jsCode, { Rows: read });
    expect(await outputOf(result)).toEqual({
      results: [{ a: 1 }],
      files: { out: { data: 'eCx5', fileName: 'b.csv', mimeType: 'text/csv' } },
    });
    expect(configOf(result, 'Code: file')).toEqual({
      format: 'base64',
      name: '{{nodes.code.output.result.files.out.fileName | default: "file.bin"}}',
      data: '{{nodes.code.output.result.files.out.data}}',
    });
    expect(configOf(result, 'Rows')?.file).toBe('{{nodes.code_file.output.file}}');
  });

  it('makes no file that it makes only sometimes', () => {
    const jsCode =
      "if ($json.a) return [{ json: {}, binary: { data: { data: 'aGk=' } } }];\nreturn [{ json: {} }];";
    expect(outcomeOf(made(jsCode, { Rows: ROWS }), 'Rows')).toMatchObject({ kind: 'dropped' });
  });

  it('passes on the file of each item of a list, and of the items themselves', () => {
    const list = {
      Start: START,
      List: { type: 'splitOut', parameters: { fieldToSplitOut: 'list' } },
      Get: GET,
    };
    const code = (jsCode: string): Sketch => ({ type: 'code', version: 2, parameters: { jsCode } });
    const each = chain({
      ...list,
      Code: code('return $input.all().map((item) => ({ json: { a: 1 }, binary: item.binary }));'),
      Rows: ROWS,
    });
    expect(configOf(each, 'Rows')?.file).toBe('{{nodes.get.output.body}}');
    const all = chain({
      ...list,
      Code: code('return $input.all().map((item, at) => ({ json: { at }, binary: item.binary }));'),
      Rows: ROWS,
    });
    expect(outcomeOf(all, 'Rows')).toMatchObject({ kind: 'dropped' });
    const same = made('console.log($json.a);\nreturn $input.all();', { Rows: ROWS });
    expect(configOf(same, 'Rows')?.file).toBe('{{nodes.get.output.body}}');
  });
});

it('expressions name the file of an earlier node, and read its name and type', () => {
  const result = chain({
    Start: START,
    Get: {
      ...GET,
      parameters: { ...GET.parameters, options: { response: { response: { responseFormat: 'file' } } } },
    },
    Ask: {
      type: 'httpRequest',
      version: 4.2,
      parameters: { url: '=https://example.com/{{ $binary.data.fileName }}' },
    },
    Set: {
      type: 'set',
      version: 3.4,
      parameters: {
        assignments: {
          assignments: [{ name: 'type', type: 'string', value: "={{ $('Get').item.binary.data.mimeType }}" }],
        },
      },
    },
    Send: {
      type: 'telegram',
      parameters: {
        operation: 'sendPhoto',
        chatId: '1',
        binaryData: true,
        binaryPropertyName: "={{ $('Get').item.binary.data }}",
      },
    },
    Rows: { type: 'extractFromFile', parameters: { operation: 'csv', binaryPropertyName: '=nothing' } },
  });
  expect(configOf(result, 'Ask')?.url).toMatch(/^https:\/\/example.com\/\{\{nodes\.get\.output\.body\.name/);
  expect(configOf(result, 'Set')?.values).toEqual({ type: '{{nodes.get.output.body.type}}' });
  expect(configOf(result, 'Send')).toMatchObject({ photo: '{{nodes.get.output.body}}' });
  expect(outcomeOf(result, 'Rows')).toMatchObject({ kind: 'dropped' });
});

describe('files of n8n', () => {
  it('are downloaded as files if the next node reads them, also behind a branch and fields that are set', () => {
    const set = { assignments: { assignments: [{ name: 'a', value: '1', type: 'string' }] } };
    const result = chain({
      Start: START,
      Get: GET,
      Any: { type: 'noOp' },
      Set: { type: 'set', version: 3.4, parameters: set },
      Rows: { type: 'extractFromFile', parameters: { operation: 'xlsx', options: { sheetName: 'July' } } },
    });
    expect(outcomeOf(result, 'Rows')?.kind).toBe('dropped');
    const direct = chain({
      Start: START,
      Get: GET,
      Any: { type: 'noOp' },
      Rows: { type: 'extractFromFile', parameters: { operation: 'xlsx', options: { sheetName: 'July' } } },
    });
    expect(configOf(direct, 'Get')).toMatchObject({ response_type: 'file' });
    expect(configOf(direct, 'Rows')).toEqual({
      file: '{{nodes.get.output.body}}',
      format: 'xlsx',
      sheet: 'July',
    });
    const kept = chain({
      Start: START,
      Get: {
        ...GET,
        parameters: {
          ...GET.parameters,
          options: { response: { response: { responseFormat: 'file', outputPropertyName: 'pdf' } } },
        },
      },
      Set: { type: 'set', version: 3.4, parameters: set },
      Text: {
        type: 'extractFromFile',
        parameters: { operation: 'text', binaryPropertyName: 'pdf', destinationKey: 'content' },
      },
      Use: {
        type: 'set',
        version: 3.4,
        parameters: {
          assignments: { assignments: [{ name: 'b', value: '={{ $json.content }}', type: 'string' }] },
        },
      },
    });
    expect(configOf(kept, 'Text')).toEqual({ file: '{{nodes.get.output.body}}', format: 'text' });
    expect(configOf(kept, 'Use')).toEqual({ values: { b: '{{nodes.text.output.text}}' } });
  });

  it('are written from items, zipped, attached and sent', () => {
    const result = chain({
      Start: START,
      Write: { type: 'convertToFile', parameters: { operation: 'csv', options: { fileName: 'orders.csv' } } },
      Zip: {
        type: 'compression',
        parameters: { operation: 'compress', fileName: 'all.zip', binaryPropertyOutput: 'zip' },
      },
      Form: {
        type: 'httpRequest',
        version: 4.2,
        parameters: {
          method: 'POST',
          url: 'https://files.example.com/up',
          sendBody: true,
          contentType: 'multipart-form-data',
          bodyParameters: {
            parameters: [
              { parameterType: 'formBinaryData', name: 'file', inputDataFieldName: 'zip' },
              { name: 'note', value: 'x' },
            ],
          },
        },
      },
    });
    expect(configOf(result, 'Write')).toMatchObject({ format: 'csv', name: 'orders.csv' });
    expect(configOf(result, 'Zip')).toMatchObject({
      operation: 'make',
      files: ['{{nodes.write.output.file}}'],
      name: 'all.zip',
    });
    expect(configOf(result, 'Form')).toMatchObject({
      body_type: 'multipart',
      body: { file: '{{nodes.zip.output.file}}', note: 'x' },
    });
    const mail = chain({
      Start: START,
      Get: GET,
      Mail: {
        type: 'emailSend',
        version: 2,
        parameters: {
          fromEmail: 'a@example.com',
          toEmail: 'b@example.com',
          subject: 's',
          text: 't',
          emailFormat: 'text',
          options: { attachments: 'data' },
        },
      },
    });
    expect(configOf(mail, 'Mail')).toMatchObject({ files: ['{{nodes.get.output.body}}'] });
    const bot = chain({
      Start: START,
      Get: GET,
      Send: { type: 'telegram', parameters: { operation: 'sendDocument', chatId: 7, binaryData: true } },
    });
    expect(configOf(bot, 'Send')).toMatchObject({
      chat_id: '7',
      document: '{{nodes.get.output.body}}',
    });
    const drive = chain({
      Start: START,
      Get: GET,
      Up: {
        type: 'googleDrive',
        version: 3,
        parameters: { name: 'a.csv', folderId: { __rl: true, value: 'f1' } },
      },
    });
    expect(configOf(drive, 'Up: content')).toMatchObject({
      body: '{{nodes.get.output.body}}',
      body_type: 'file',
    });
    expect(configOf(drive, 'Up')).toMatchObject({
      method: 'PATCH',
      body: { name: 'a.csv' },
      query: { addParents: 'f1' },
    });
  });

  it('come from a form, and speech becomes text', () => {
    const result = chain({
      Form: {
        type: 'formTrigger',
        version: 2.2,
        parameters: {
          formTitle: 'x',
          formFields: { values: [{ fieldLabel: 'Your file', fieldType: 'file' }] },
        },
      },
      Hear: {
        type: '@n8n/n8n-nodes-langchain.openAi',
        version: 1.8,
        parameters: { resource: 'audio', operation: 'transcribe', binaryPropertyName: 'Your_file' },
      },
    });
    expect(configOf(result, 'Hear')).toMatchObject({
      body_type: 'multipart',
      body: { file: expect.stringContaining('trigger.data["Your file"]') },
    });
  });

  it('of the kind PDF give their text', () => {
    const result = chain({
      Start: START,
      Get: GET,
      Pdf: { type: 'extractFromFile', parameters: { operation: 'pdf' } },
    });
    expect(flowOf(result).nodes.map(({ type }) => type)).toEqual([
      'trigger.manual',
      'http.request',
      'file.pdf_text',
    ]);
    expect(configOf(result, 'Pdf')).toEqual({ file: '{{nodes.get.output.body}}' });
  });

  it('that are not there drop the node', () => {
    const result = chain({
      Start: START,
      Read: { type: 'extractFromFile', parameters: { operation: 'csv' } },
    });
    expect(outcomeOf(result, 'Read')).toMatchObject({
      kind: 'dropped',
      reason: { key: 'import.no_file_before', params: { name: 'data' } },
    });
  });
});

describe('a workflow of n8n', () => {
  it('whose loops lead into each other is read', () => {
    const loop: Sketch = { type: 'splitInBatches', version: 3 };
    const value = n8n({ Start: START, A: loop, B: loop, C: { type: 'noOp' } }, []);
    const to = (node: string) => ({ node, type: 'main', index: 0 });
    const connections = {
      Start: { main: [[to('A')]] },
      A: { main: [[to('B')], [to('C')]] },
      C: { main: [[to('B')]] },
      B: { main: [[to('A')], [to('A')]] },
    };
    expect(read({ ...value, connections }).outcomes.length).toBe(4);
  });

  it('that writes JSON of a value where JSON is expected passes the value on', () => {
    const post = (jsonBody: string): Sketch => ({
      ...GET,
      parameters: {
        method: 'POST',
        url: 'https://api.example.com/',
        sendBody: true,
        specifyBody: 'json',
        jsonBody,
      },
    });
    const result = chain({
      Start: START,
      Given: GET,
      Whole: post('={{ JSON.stringify($json) }}'),
      Part: post(
        `={"all": {{ JSON.stringify($('Given').item.json.list, null, 2) }}, "text": "{{ JSON.stringify($json.a) }}"}`,
      ),
    });
    expect(configOf(result, 'Whole')?.body).toBe('{{nodes.given.output.body}}');
    expect(configOf(result, 'Part')?.body).toEqual({
      all: '{{nodes.given.output.body.list}}',
      text: '{{nodes.whole.output.body.a | json}}',
    });
  });

  it('that reads what a webhook does not have says so', () => {
    const result = chain({
      Hook: { type: 'webhook', version: 2, parameters: { httpMethod: 'POST' } },
      Use: {
        type: 'set',
        version: 3.4,
        parameters: {
          assignments: { assignments: [{ name: 'b', value: '={{ $json.sessionId }}', type: 'string' }] },
        },
      },
    });
    expect(outcomeOf(result, 'Use')).toMatchObject({ what: [{ key: 'import.member_missing' }] });
    expect(problemsOf(result).map(({ code }) => code)).toEqual([]);
    expect(flowOf(result).nodes).toHaveLength(2);
  });
});
