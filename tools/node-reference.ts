import { readFileSync, writeFileSync } from 'node:fs';
import { type ConnectorNode, connectorNodes } from '@millrace/connectors/connectors';
import type { JsonSchema, NodeDefinition, NodeExample } from '@millrace/engine';
import { nodes, OPERATORS } from '@millrace/nodes';

const NODES = new URL('../docs/nodes.md', import.meta.url);
const CONNECTORS = new URL('../docs/connectors.md', import.meta.url);

const KINDS: Record<NodeDefinition['kind'], string> = {
  trigger: 'trigger: where an execution begins',
  pure: 'pure: affects nothing outside; computed again after a crash',
  effect: 'effect: affects other systems or waits; recorded before anything that depends on it starts',
  loop: 'loop: a container; the nodes that name it as their `parentId` are its body',
};

/** Pages that describe a node in more detail. */
const GUIDES: { readonly [type: string]: string } = {
  'trigger.schedule': 'triggers.md',
  'trigger.webhook': 'triggers.md',
  'trigger.rss': 'triggers.md',
  'trigger.poll': 'triggers.md',
  'trigger.email': 'triggers.md#listening',
  'trigger.redis': 'triggers.md#listening',
  'trigger.mqtt': 'triggers.md#listening',
  'trigger.kafka': 'triggers.md#listening',
  'trigger.postgresql': 'triggers.md#listening',
  'trigger.sqs': 'triggers.md#listening',
  'ai.generate': 'ai.md',
  'ai.classify': 'ai.md#classifying-and-extracting',
  'ai.extract': 'ai.md#classifying-and-extracting',
  'ai.agent': 'ai.md',
  'ai.embed': 'ai.md#searching-by-meaning',
  'ai.split': 'ai.md#searching-by-meaning',
  'ai.vectors': 'ai.md#searching-by-meaning',
  'core.for_each': 'workflows.md#loops',
  'core.repeat': 'workflows.md#loops',
  'webhook.respond': 'triggers.md#response-from-a-node',
  'wait.callback': 'workflows.md#waits',
  'wait.approval': 'workflows.md#waits',
  'flow.call': 'workflows.md#waits',
  'data.store': 'reaching-out.md#data-store',
  'chat.notify': 'reaching-out.md',
  'email.send': 'reaching-out.md',
  'sql.query': 'reaching-out.md',
  'http.webhook_output': 'reaching-out.md',
};

const INTRODUCTION = `<!-- Made by tools/node-reference.ts from the catalogue in packages/nodes. Change it there. -->

# Node reference

Every node of the catalogue, with its settings (\`data.config\`), its handles and examples. Strings in settings may hold
[templates](workflows.md#templates). Required settings must be present; needed ones must be filled in before the workflow is activated. An invalid setting fails with \`invalid_config\`; the message says where and why.
Any node also has the handle \`error\`, taken when it fails and its \`on_error\` is \`branch\`.

How conditions compare values is described under [Conditions](#conditions). Operations of services, such as Slack and Google Sheets, are under [connectors](connectors.md).
`;

const CONDITIONS = `## Conditions

\`core.if\`, \`core.switch\` and \`core.filter\` compare by the same rules. A comparison never fails: it is true or false.

Operators: ${OPERATORS.map((each) => `\`${each}\``).join(', ')}.

- Numbers are compared by exact decimal value, however many digits they have. 1.0 equals 1; 9007199254740993 is greater than 9007199254740992.
- \`equals\`: a number equals a text that is the same number as JSON writes it ("5" and 5, not "05"); a boolean equals the text \`true\` or
  \`false\`. Two texts must be the same characters. Lists and objects must be the same in type and content; the order of members does not matter.
- null equals null only. What a template does not find is null.
- \`greater_than\` and similar: numbers, and texts that are numbers, by value; other texts by their UTF-16 code units, so
  timestamps in one offset sort by time. Other pairs have no order, and none of the four holds.
- \`contains\`: part of a text, member of a list, name in an object. \`in\` is the same with the sides exchanged.
- \`starts_with\`, \`ends_with\`: numbers and booleans count as their text.
- \`exists\`: is not null. \`is_empty\`: null, empty text, empty list, empty object. \`is_true\`, \`is_false\`: equals true or false.
- An operator with \`not_\` is the exact opposite of the one without.
`;

const RESPONSE = `### Response and failures

The output is \`{status, headers, body, body_type, duration_ms}\`; \`body_type\` is \`json\`, \`text\`, \`base64\` or \`empty\` (body null). Header names are in
lower case; several values of one name are joined by commas, save \`set-cookie\`, which is a list when there are several. Numbers in JSON are kept exactly.

| Failure | When | May be retried |
|---|---|---|
| \`http_status\` | a status outside \`success_statuses\`; the output has the response | 408, 425, 429 and 5xx, not before \`Retry-After\` |
| \`invalid_response\` | \`response_type\` is json and the body is not | no |
| \`invalid_url\`, \`invalid_config\` | the request cannot be made | no |
| \`target_not_allowed\` | the target is private or internal, see [outbound requests](outbound.md) | no |
| \`too_many_redirects\`, \`response_too_large\` | a limit was exceeded | no |
| \`timeout\`, \`connection_failed\`, \`aborted\` | no complete response arrived | yes |

In test mode GET is sent. Any other method sends nothing: the output is \`{dry_run: true, request: {method, url, headers, body}}\`, with
credentials hidden.

`;

const CODE = `### Console output and failures

What the code writes with \`console.log\`, \`info\`, \`warn\`, \`error\` and \`debug\` is in the node's record as \`log\`, even if it fails: at most 200
lines and 64 KiB. The clock is UTC. Every run starts from scratch, and code that waits for its turn uses nothing of its time limit.

| Failure | When |
|---|---|
| \`code_error\` | the code throws, isn't valid JavaScript, or returns something that isn't JSON; the message names line and column |
| \`code_timeout\` | it runs for longer than \`timeout_ms\` |
| \`code_memory\` | it needs more than \`memory_mb\` |
| \`code_output_too_large\` | the result is larger than [the limit for a node's output](configuration.md) |

None of them is retried.

`;

/** Text below a node's table of settings. */
const REMARKS: { readonly [type: string]: string } = { 'http.request': RESPONSE, 'core.code': CODE };

function renderReference(definitions: readonly NodeDefinition[]): string {
  const contents = definitions
    .map(({ type, title }) => `- [${title}](#${anchorOf(type)}) \`${type}\``)
    .join('\n');
  return `${[INTRODUCTION, `${contents}\n`, ...definitions.map(renderNode), CONDITIONS].join('\n').trimEnd()}\n`;
}

function anchorOf(type: string): string {
  return type.replaceAll('.', '');
}

function renderNode(node: NodeDefinition): string {
  const rows = rowsOf(node);
  const table = [...TABLE_HEAD, ...rows].join('\n');
  const handles = node.handles?.(node.examples[0]?.config ?? {}) ?? ['out'];
  const described = NAMED_HANDLES[node.type] ?? handles.map((each) => `\`${each}\``).join(', ');
  return `## ${node.type}

**${node.title}.** ${node.description}${guideOf(node.type)}

Kind: ${KINDS[node.kind]}. Handles: ${described}.

${rows.length === 0 ? 'No settings.' : table}

${REMARKS[node.type] ?? ''}${node.examples.map(renderExample).join('\n')}`;
}

const TABLE_HEAD = ['| Setting | Type | Default | Meaning |', '|---|---|---|---|'];

/** A line of the table for each setting. */
function rowsOf(node: NodeDefinition): readonly string[] {
  return listProperties(node.configSchema, '').map(
    ([path, schema, isRequired]) =>
      `| \`${path}\`${isRequired ? ' (required)' : schema['x-filled'] === true ? ' (needed)' : ''} | ${typeOf(schema)} | ${isRequired ? '' : code(schema.default)} | ${cell(schema.description)} |`,
  );
}

/** Handles named by the config. */
const NAMED_HANDLES: { readonly [type: string]: string } = {
  'core.switch': 'the name of each case, and `default`',
  'wait.approval': 'the ID of each choice (`approve` and `reject` unless others are set), and `timeout`',
};

function guideOf(type: string): string {
  const page = GUIDES[type];
  return page === undefined ? '' : ` See [the guide](${page}).`;
}

function renderExample(example: NodeExample): string {
  const parts = [
    `Settings${show(example.config)}`,
    ...(example.trigger === undefined ? [] : [`Trigger data${show(example.trigger)}`]),
    ...(example.inputs === undefined ? [] : [`Outputs of preceding nodes${show(example.inputs)}`]),
    ...(example.http ?? []).map(
      ({ status, body }) =>
        `The server responds with ${status}${show(readAnswer(new TextDecoder().decode(body)))}`,
    ),
    expectationOf(example.expect),
  ];
  return `Example: ${example.title}.\n\n${parts.map((part) => `- ${part}`).join('\n')}\n`;
}

function expectationOf(expected: NodeExample['expect']): string {
  if ('failure' in expected) return `Fails with \`${expected.failure.code}\``;
  const output = `output${show(expected.output)}`;
  if ('waitMs' in expected)
    return `Waits ${expected.waitMs} ms when it is 2026-01-01T00:00:00Z, then ${output}`;
  if ('awaitsSignal' in expected) return `Waits; until then ${output}`;
  if ('stops' in expected) return `Ends the execution as completed, ${output}`;
  const handles = (expected.handles ?? ['out']).map((handle) => `\`${handle}\``).join(', ');
  return `Takes ${handles}, ${output}`;
}

function readAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const MAX_INLINE_LENGTH = 90;

/** Short values inline, longer ones as a block. */
function show(value: unknown): string {
  const inline = JSON.stringify(value);
  if (inline.length <= MAX_INLINE_LENGTH) return `: \`${inline}\``;
  const block = JSON.stringify(value, null, 2).replaceAll('\n', '\n  ');
  return `:\n\n  \`\`\`json\n  ${block}\n  \`\`\`\n`;
}

type Row = [path: string, schema: JsonSchema, isRequired: boolean];

/** All named settings with their dotted path; `[]` represents a list item, `<kind>` the alternative identified by a fixed value. */
function listProperties(schema: JsonSchema, prefix: string): Row[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const own = Object.entries(membersOf(schema)).flatMap(([name, property]): Row[] => {
    const path = `${prefix}${name}`;
    const { items } = property as { items?: JsonSchema };
    const inner =
      items === undefined ? listProperties(property, `${path}.`) : listProperties(items, `${path}[].`);
    return [[path, property, required.includes(name)], ...inner];
  });
  return [...own, ...alternativesOf(schema).flatMap((alternative) => listAlternative(alternative, prefix))];
}

function alternativesOf(schema: JsonSchema): readonly JsonSchema[] {
  return [schema.anyOf, schema.oneOf].flatMap((each) => (Array.isArray(each) ? (each as JsonSchema[]) : []));
}

function listAlternative(schema: JsonSchema, prefix: string): Row[] {
  const kind = Object.values(membersOf(schema)).find((member) => fixedOf(member) !== undefined);
  if (kind === undefined) return listOthers(schema, prefix);
  const at = `${prefix.replace(/\.$/, '')}<${fixedOf(kind) as string}>`;
  const description = schema.description ?? kind.description;
  const own: Row[] = description === undefined ? [] : [[at, { ...schema, description }, false]];
  return [...own, ...listOthers(schema, `${at}.`)];
}

function listOthers(schema: JsonSchema, at: string): Row[] {
  return listProperties(schema, at).filter(([, property]) => fixedOf(property) === undefined);
}

/** What a connector was compared with. */
function comparison({ compared, uncompared }: ConnectorNode['connector']): string {
  if (compared === undefined) return `Not compared with a description. ${uncompared ?? ''}`;
  const { with: source, version, except = [] } = compared;
  const but = except.length === 0 ? '' : `, except ${except.map((id) => `\`${id}\``).join(', ')}`;
  return `Compared with [this description](${source}) (${version})${but}.`;
}

/** The only value a setting can have; undefined if there are several. */
function fixedOf(schema: JsonSchema): unknown {
  if (schema.const !== undefined) return schema.const;
  return Array.isArray(schema.enum) && schema.enum.length === 1 ? schema.enum[0] : undefined;
}

function membersOf(schema: JsonSchema): { readonly [name: string]: JsonSchema } {
  return (schema.properties ?? {}) as { readonly [name: string]: JsonSchema };
}

function typeOf(schema: JsonSchema): string {
  if (schema.enum === OPERATORS) return '[operator](#conditions)';
  if (Array.isArray(schema.enum)) return schema.enum.map((each) => code(each)).join(' ');
  if (Array.isArray(schema.anyOf)) return (schema.anyOf as JsonSchema[]).map(alternativeOf).join(' or ');
  const range = [
    ...(typeof schema.minimum === 'number' ? [`from ${schema.minimum}`] : []),
    ...(typeof schema.maximum === 'number' ? [`to ${schema.maximum}`] : []),
  ];
  if (Object.values(membersOf(schema)).some((member) => fixedOf(member) !== undefined))
    return alternativeOf(schema);
  const { items } = schema as { items?: JsonSchema };
  if (items?.type === 'string') return 'list of texts';
  return [typeof schema.type === 'string' ? NAMES[schema.type] : 'any', ...range].join(' ');
}

const NAMES: { readonly [type: string]: string } = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  array: 'list',
  object: 'object',
  null: 'null',
};

function alternativeOf(schema: JsonSchema): string {
  const members = Object.entries(membersOf(schema));
  if (members.length === 0) return typeOf(schema);
  const shown = members.map(([name, member]) => {
    const fixed = fixedOf(member);
    return fixed === undefined ? name : `${name}: ${JSON.stringify(fixed)}`;
  });
  return `\`{${shown.join(', ')}}\``;
}

function code(value: unknown): string {
  if (value === undefined) return '';
  if (value === '') return 'empty';
  return `\`${cell(typeof value === 'string' ? value : JSON.stringify(value))}\``;
}

function cell(text: unknown): string {
  return typeof text === 'string' ? text.replaceAll('|', '\\|').replaceAll('\n', ' ') : '';
}

const CONNECTORS_INTRODUCTION = `<!-- Made by tools/node-reference.ts from packages/connectors/src/services. Change it there. -->

# Connectors

Triggers and operations of services, each a node. They are made from one file for each service ([ADR 72](adr/0072-connectors-as-data.md)), are modelled on the services' public references, and were **not tried against the services**. Where a machine-readable description of a service was at hand, methods, paths, parameters, bodies and what is read from responses were compared with it: each service says with which one, or why not.
For whatever is missing, use an [HTTP request](nodes.md#httprequest) with the same credential.

What holds for all of them:

- The credential must allow the service's hosts, and is sent to them only ([credentials](credentials.md#where-a-secret-may-go)). Calls follow the rules for [outbound requests](outbound.md), with their limits by host.
- Optional settings that are empty aren't sent. To empty something at the service, use an HTTP request.
- Operations that list fetch page by page, up to the \`limit\`, 100 pages or 16 MiB. Their output is \`{items, count, has_more}\`; \`has_more\` says that there are more items than were fetched.
- Triggers poll: they ask at an interval and start an execution for each item that is new ([polling](triggers.md#polling)).
- In test mode, operations that change something send nothing: the output is \`{dry_run: true, service, request}\`, with the credential hidden. What only reads is sent.
- A response may have 4 MiB; what is stored as a file has the limits of files.
- Unless set otherwise, an attempt is repeated twice if that can't do harm. "Repeated" says of each operation that changes something how the service takes the same request twice: *harmless* (the result is the same), *known* (the service recognises it by a key) or *no* (the
  service would do it again, so it is only repeated if the service refused it because of its limits).

| Failure | When | May be retried |
|---|---|---|
| \`connector_rate_limited\` | the service limits requests | yes, not before it says so |
| \`connector_auth_failed\` | the credential isn't accepted, or may not do this | no |
| \`connector_not_found\` | what the settings name doesn't exist, or this credential can't see it | no |
| \`connector_refused\` | the service refused the request; the message says why | no |
| \`connector_unavailable\` | the service failed or is overloaded | unless "Repeated" is *no* |
| \`timeout\`, \`connection_failed\` | no complete response arrived | unless "Repeated" is *no* |
| \`invalid_response\` | the response isn't what the operation returns | no |

The output of these failures is \`{status, body}\`, if there was a response.
`;

const REPEATED = { harmless: 'harmless', keyed: 'known', unknown: 'no' } as const;

function renderConnectors(operations: readonly ConnectorNode[]): string {
  const services = [...Map.groupBy(operations, ({ connector }) => connector)];
  const contents = services.map(([{ id, title }]) => `- [${title}](#${id.replaceAll('_', '-')})`).join('\n');
  return `${[CONNECTORS_INTRODUCTION, `${contents}\n`, ...services.map(renderService)].join('\n').trimEnd()}\n`;
}

function renderService([connector, operations]: readonly [
  ConnectorNode['connector'],
  readonly ConnectorNode[],
]): string {
  const { id, title, authentication, hosts, reference, written_on: day } = connector;
  const head = `## ${id.replaceAll('_', '-')}

**${title}.** ${authentication.description} Credentials: ${authentication.types.map((each) => `\`${each}\``).join(', ')}; hosts: ${hosts.map((each) => `\`${each}\``).join(', ')}.
Written on ${day}, modelled on the [public reference](${reference}), not tried against the service. ${comparison(connector)}
`;
  return [head, ...operations.map(renderOperation)].join('\n');
}

function renderOperation(of: ConnectorNode): string {
  const { node, isReplaced } = of;
  const rows = rowsOf(node).filter((row) => !/^\| `(?:credential_id|timeout_ms)`/.test(row));
  if (of.kind === 'trigger') return renderTrigger(of);
  const { operation } = of;
  const { repetition } = operation;
  const kind =
    repetition === undefined ? 'Only reads.' : `Changes something. Repeated: ${REPEATED[repetition]}.`;
  const replaced = isReplaced ? ' Replaced by a newer version; workflows that have it keep it.' : '';
  const [example] = operation.exchanges;
  const shown = example?.output === undefined ? '' : `\nOutput, for example${show(example.output)}\n`;
  return `### ${operation.title}

\`${node.type}\`: ${node.description} ${kind}${replaced}

${[...TABLE_HEAD, ...rows].join('\n')}
${shown}`;
}

function renderTrigger({ node, trigger }: Extract<ConnectorNode, { kind: 'trigger' }>): string {
  const rows = rowsOf(node).filter((row) => !/^\| `(?:credential_id|interval_s|existing)`/.test(row));
  const found = trigger.exchanges.flatMap(({ items = [] }) => items)[0];
  const table = rows.length === 0 ? '' : `\n${[...TABLE_HEAD, ...rows].join('\n')}\n`;
  return `### ${trigger.title}

\`${node.type}\`: ${node.description} [Polls](triggers.md#polling).
${table}${found === undefined ? '' : `\n\`trigger.data\`, for example${show(found.data)}\n`}`;
}

/** Writes a page, or says that it differs. */
function renew(path: URL, text: string, isCheck: boolean): void {
  if (!isCheck) {
    writeFileSync(path, text);
    return;
  }
  let written = '';
  try {
    written = readFileSync(path, 'utf8');
  } catch {
    // A missing file counts as different.
  }
  if (written !== text) {
    const name = path.pathname.split('/').slice(-2).join('/');
    process.stderr.write(`${name} differs from the catalogue. Run: node tools/node-reference.ts\n`);
    process.exitCode = 1;
  }
}

function main(isCheck: boolean): void {
  renew(NODES, renderReference(nodes), isCheck);
  renew(CONNECTORS, renderConnectors(connectorNodes), isCheck);
}

main(process.argv.includes('--check'));
