import { type Conversion, type JsonValue, stringifyWork, success } from '@millrace/engine';
import { choice } from '@millrace/node-kit/choice';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';
import { documentText, timeoutProperty } from '../documents/config.ts';

const WHEN_PARSE = { operation: ['parse'] };
const WHEN_WRITE = { operation: ['write'] };

export const dataXml = checkedNode({
  type: 'data.xml',
  title: 'XML',
  description:
    'Turns XML into an object, or an object into XML. An element becomes its text, or an object of its attributes and elements; repeated elements become a list. Nothing that a document declares or refers to is expanded or loaded. The output is {data} or {xml}.',
  icon: 'file-code',
  kind: 'pure',
  properties: {
    operation: choice(
      'Operation',
      'The direction of the conversion.',
      { parse: 'XML to object', write: 'Object to XML' },
      { default: 'parse' },
    ),
    xml: Type.Unsafe<JsonValue>({
      title: 'XML',
      description: 'The document, usually a template such as {{nodes.fetch.output.body}}.',
      default: '',
      'x-filled': true,
      'x-when': WHEN_PARSE,
    }),
    data: Type.Unsafe<JsonValue>({
      title: 'Data',
      description:
        'The object to write, in the form that reading XML returns. Lists become repeated elements.',
      default: {},
      'x-when': WHEN_WRITE,
    }),
    root: Type.String({
      title: 'Root element',
      description: 'The name of the outermost element. Empty: the one member that the object has.',
      default: '',
      maxLength: 200,
      'x-placeholder': 'order',
      'x-when': WHEN_WRITE,
    }),
    attribute_prefix: Type.String({
      title: 'Prefix of attributes',
      description:
        'Before the names of attributes in the object, such as @id. Empty: they look like elements, and write makes elements of them.',
      default: '@',
      maxLength: 20,
    }),
    text_name: Type.String({
      title: 'Name for text',
      description: 'The member for the text of an element that has attributes or elements, too.',
      default: '#text',
      minLength: 1,
      maxLength: 200,
    }),
    attributes: Type.Boolean({
      title: 'Keep attributes',
      description: 'Turn this off to leave attributes out.',
      default: true,
      'x-when': WHEN_PARSE,
    }),
    namespaces: Type.Boolean({
      title: 'Keep namespace prefixes',
      description: 'Turn this off to read soap:Body as Body.',
      default: true,
      'x-when': WHEN_PARSE,
    }),
    lists: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      title: 'Always lists',
      description: 'Names of elements that are a list even if there is only one, such as item.',
      default: [],
      maxItems: 100,
      'x-when': WHEN_PARSE,
    }),
    declaration: Type.Boolean({
      title: 'XML declaration',
      description: 'Begins the document with <?xml version="1.0" encoding="UTF-8"?>.',
      default: true,
      'x-when': WHEN_WRITE,
    }),
    indent: Type.Boolean({
      title: 'Indent',
      description: 'Puts each element on a line of its own.',
      default: true,
      'x-when': WHEN_WRITE,
    }),
    timeout_ms: timeoutProperty,
  },
  required: ['operation'],
  form: {
    main: ['operation', 'xml', 'data', 'root', 'lists', 'attributes', 'namespaces', 'declaration', 'indent'],
    sections: [
      { title: 'Names', fields: ['attribute_prefix', 'text_name'] },
      { title: 'Limits', fields: ['timeout_ms'] },
    ],
  },
  synonyms: ['soap', 'parse', 'json', 'convert', 'svg', 'sitemap', 'xml2js'],
  examples: [
    {
      title: 'Read an order',
      config: { operation: 'parse', xml: '{{trigger.data.body}}', lists: ['line'] },
      trigger: {
        body: '<?xml version="1.0"?><order id="17"><customer>Ada &amp; Bo</customer><line qty="2">Tea</line></order>',
      },
      expect: {
        output: {
          data: { order: { '@id': '17', customer: 'Ada & Bo', line: [{ '@qty': '2', '#text': 'Tea' }] } },
        },
      },
    },
    {
      title: 'Write an order',
      config: {
        operation: 'write',
        root: 'order',
        data: { '@id': '{{trigger.data.id}}', customer: 'Ada & Bo', line: ['Tea', 'Cake'] },
      },
      trigger: { id: 17 },
      expect: {
        output: {
          xml: '<?xml version="1.0" encoding="UTF-8"?>\n<order id="17">\n  <customer>Ada &amp; Bo</customer>\n  <line>Tea</line>\n  <line>Cake</line>\n</order>',
        },
      },
    },
    {
      title: "A document that isn't well-formed",
      config: { operation: 'parse', xml: '<order><line>Tea</order>' },
      expect: { failure: { code: 'invalid_data' } },
    },
  ],
  async run(config, context) {
    const { operation, root, declaration, indent, lists, timeout_ms: timeoutMs } = config;
    const names = { attributePrefix: config.attribute_prefix, textName: config.text_name };
    const isParse = operation === 'parse';
    const text = isParse
      ? documentText(config.xml, 'xml')
      : await context.inTurns((meter) => stringifyWork(config.data, meter));
    const conversion: Conversion = isParse
      ? {
          kind: 'xml_to_value',
          names,
          keepAttributes: config.attributes,
          localNames: !config.namespaces,
          lists,
        }
      : { kind: 'value_to_xml', names, root: root.trim(), declaration, indent };
    const result = await context.documents.convert({ text, conversion, timeoutMs }, context.signal);
    return success(isParse ? { data: result } : { xml: result });
  },
});
