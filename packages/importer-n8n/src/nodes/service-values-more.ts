import { isJsonObject, type JsonValue } from '@millrace/engine';
import { extend, template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import { arrayOf, asText, objectOf, textOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';

type Converter = (step: Step, path: string) => JsonValue | undefined;

/** Converters of services that one or two operations each need. */
export const MORE_CONVERTERS: { readonly [name: string]: Converter } = {
  telegram_rich: (step, path) => (step.text(path, 'html') === 'markdown' ? 'Markdown' : 'HTML'),
  upper_case: (step, path) => step.text(path).toUpperCase(),
  is_set: (step, path) => (step.raw(path) === undefined ? undefined : true),
  is_internal: (step, path) => step.text(path, 'internal') === 'internal',
  text_list: (step, path) => listOf(step, path, '(text) => text'),
  number_list: (step, path) => listOf(step, path, 'Number'),
  hubspot_filters: (step, path) =>
    arrayOf(step.raw(`${path}.filterGroupsValues`)).map((group) => ({
      filters: arrayOf(objectOf(objectOf(group).filtersUi).filterValues).map((each) => {
        const { propertyName, operator, value } = objectOf(each);
        // The property is kept with its type.
        const name = asText(step.value(propertyName ?? '')).split('|')[0] ?? '';
        return {
          propertyName: name,
          operator: textOf(operator) ?? 'EQ',
          ...(value === undefined ? {} : { value: step.value(value) }),
        };
      }),
    })),
  hubspot_custom: (step, path) => pairsOf(step, `${path}.customPropertiesValues`, 'property', 'value'),
  hubspot_metadata: (step, path) => {
    const given = objectOf(step.raw(path));
    return step.value(given);
  },
  salesforce_fields: (step, path) => {
    const { customFieldsUi, ...fields } = objectOf(step.raw(path));
    const own = Object.entries(fields).map(([name, value]): [string, JsonValue] => [
      name.charAt(0).toUpperCase() + name.slice(1),
      step.value(value ?? null),
    ]);
    const custom =
      customFieldsUi === undefined
        ? {}
        : pairsOf(step, `${path}.customFieldsUi.customFieldsValues`, 'fieldId', 'value');
    return { ...Object.fromEntries(own), ...objectOf(custom) };
  },
  // A text is spoken, unless it is TwiML already.
  twiml: (step, path) => {
    const text = step.param(path, '');
    return step.raw('twiml') === true
      ? text
      : step.computed(
          `"<Response><Say>" + String(${step.source(step.raw(path) ?? '')}).replaceAll("&", "&amp;").replaceAll("<", "&lt;") + "</Say></Response>"`,
        );
  },
  file_named: (step, path) => template(step.file(step.text(path, 'data') || 'data')),
  // Written as name and language.
  whatsapp_template: (step, path) => {
    const [name = '', language = 'en_US'] = asText(step.chosen(path)).split('|');
    if (arrayOf(step.raw('components.component')).length > 0)
      throw new Unmappable(message('import.unknown_operation', { operation: 'components' }));
    return { name, language: { code: language } };
  },
  odoo_database: (step) => {
    step.compiler.variables.add('odoo_database');
    step.approximate(message('import.set_constant', { name: 'odoo_database' }));
    step.approximate(message('import.odoo_version'));
    return template('vars.odoo_database');
  },
  odoo_model: (step) => {
    const resource = step.text('resource', 'contact');
    return Object.hasOwn(ODOO_MODELS, resource) ? ODOO_MODELS[resource] : step.param('customResource', '');
  },
  odoo_id: (step) => {
    const name = { contact: 'contactId', note: 'noteId', opportunity: 'opportunityId' }[
      step.text('resource', 'contact')
    ];
    return step.computed(`Number(${step.source(step.raw(name ?? 'customResourceId') ?? 0)})`);
  },
  odoo_fields: (step, path) => {
    const names = arrayOf(step.raw(path));
    return names.length === 0 ? undefined : names.map((name) => step.value(name));
  },
  odoo_domain: (step, path) =>
    arrayOf(step.raw(path)).map((each) => {
      const { fieldName, operator, value } = objectOf(each);
      const sign = ODOO_SIGNS[textOf(operator) ?? 'equal'];
      if (sign === undefined)
        throw new Unmappable(message('import.unknown_operator', { operator: asText(operator) }));
      return [step.value(fieldName ?? ''), sign, step.value(value ?? null)];
    }),
  odoo_values: odooValues,
  firebase_values: (step) =>
    Object.fromEntries(
      step
        .text('attributes')
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '' && name !== '__proto__')
        .map((name) => [name, step.expression(`$json[${JSON.stringify(name)}]`)]),
    ),
  coda_cells: (step) =>
    step.computed(
      'Object.entries($json).map(([column, value]) => ({ column, value: typeof value === "object" ? JSON.stringify(value) : value }))',
    ),
  mistral_document: (step) => {
    const isImage = step.text('documentType', 'document_url') === 'image_url';
    const name = isImage ? 'image_url' : 'document_url';
    if (step.text('inputType', 'binary') === 'url') return { type: name, [name]: step.param('url', '') };
    const file = step.file(step.text('binaryProperty', 'data') || 'data');
    const id = step.add('file.read', { file: template(file), format: 'base64' }, { suffix: 'content' });
    const type = template(extend(file, ['type']));
    return { type: name, [name]: `data:${type};base64,{{nodes.${id}.output.base64}}` };
  },
  slides_requests: (step, path) =>
    arrayOf(step.raw(path)).map((each) => {
      const { text, replaceText, matchCase } = objectOf(each);
      return {
        replaceAllText: {
          containsText: { text: step.value(text ?? ''), matchCase: matchCase === true },
          replaceText: step.value(replaceText ?? ''),
        },
      };
    }),
};

const ODOO_MODELS: { readonly [resource: string]: string } = {
  contact: 'res.partner',
  note: 'note.note',
  opportunity: 'crm.lead',
};

const ODOO_SIGNS: { readonly [operator: string]: string | undefined } = {
  equal: '=',
  notEqual: '!=',
  greaterThen: '>',
  lesserThen: '<',
  greaterOrEqual: '>=',
  lesserOrEqual: '<=',
  like: 'like',
  in: 'in',
  notIn: 'not in',
  childOf: 'child_of',
};

/** The names of fields that n8n has of its own for contacts and opportunities are those of Odoo with other capitals. */
function odooValues(step: Step): JsonValue {
  const listed = step.raw('fieldsToCreateOrUpdate.fields');
  if (listed !== undefined) return pairsOf(step, 'fieldsToCreateOrUpdate.fields', 'fieldName', 'fieldValue');
  const { address, ...fields } = {
    ...objectOf(step.raw('additionalFields')),
    ...objectOf(step.raw('updateFields')),
  };
  const { value } = objectOf(address);
  const name = ['contactName', 'opportunityName', 'memo'].find((each) => step.raw(each) !== undefined);
  const given = { ...fields, ...(isJsonObject(value ?? null) ? objectOf(value) : {}) };
  return {
    ...(name === undefined ? {} : { [name === 'memo' ? 'memo' : 'name']: step.param(name) }),
    ...Object.fromEntries(
      Object.entries(given).map(([field, each]) => [
        field.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        step.value(each ?? null),
      ]),
    ),
  };
}

/** A list, or a text with commas between its parts. */
function listOf(step: Step, path: string, make: string): JsonValue | undefined {
  const given = step.raw(path);
  if (given === undefined || given === '') return undefined;
  if (typeof given === 'string' && !given.startsWith('=') && make !== 'Number')
    return given
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  const source = Array.isArray(given) ? JSON.stringify(given) : step.source(given);
  return step.computed(
    `((value) => (Array.isArray(value) ? value : String(value).split(',').map((part) => part.trim()).filter(Boolean)).map(${make}))(${source})`,
  );
}

/** An object by names and values that are listed. */
export function pairsOf(step: Step, path: string, nameMember: string, valueMember: string): JsonValue {
  const found: { [name: string]: JsonValue } = {};
  for (const each of arrayOf(step.raw(path)).map(objectOf)) {
    const name = asText(step.value(each[nameMember] ?? '')).split('|')[0] ?? '';
    if (name === '' || name === '__proto__') continue;
    if (name.includes('{{')) throw new Unmappable(message('import.name_is_expression', { name }));
    found[name] = step.value(each[valueMember] ?? null);
  }
  return found;
}
