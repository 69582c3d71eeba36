import { isJsonArray, isNamedZone, type JsonObject, type JsonValue } from '@millrace/engine';
import { extend, type Shape, TOP } from '@millrace/importer-kit/refs';
import { type Message, message } from '@millrace/messages';
import { isSecretName, isWebhookPath, shapeOfPath } from '@millrace/triggers';
import type { Compiler, Out } from '../compiler.ts';
import { dropPartsOf } from '../placeholders.ts';
import { arrayOf, type N8nNode, objectOf, parameterAt, parameterOf, textOf } from '../read.ts';
import { branchesBy } from './branches.ts';
import { chatOf } from './chat.ts';
import { feedsFile } from './files.ts';
import { formOf } from './form.ts';
import { filesOfCall, listedFiles } from './late-files.ts';
import { type ListeningPlan, listeningOf } from './listening.ts';
import { addPolling, pollInterval } from './polling.ts';
import { wahaOuts } from './waha.ts';

/** How an execution is answered; `caller`: by its result, which the workflow that calls it gets. */
export type Answer = 'none' | 'last_node' | 'respond_node' | 'chat' | 'chat_page' | 'caller';

/** A trigger that was added. */
export interface Triggered {
  readonly id: string;
  readonly outs: readonly Out[];
  readonly answer: Answer;
  readonly node: N8nNode;
  /** Further times of a schedule, each of which needs a trigger of its own. */
  readonly times: readonly JsonValue[];
}

interface TriggerPlan {
  readonly type:
    | 'trigger.manual'
    | 'trigger.webhook'
    | 'trigger.form'
    | 'trigger.chat'
    | 'trigger.schedule'
    | 'trigger.rss'
    | ListeningPlan['type'];
  readonly config: { [name: string]: JsonValue };
  readonly shape?: Shape;
  /** Where the shape's places are; default: `trigger`. */
  readonly path?: string;
  readonly answer?: Answer;
  readonly notes?: readonly Message[];
  readonly times?: readonly JsonValue[];
  /** Set if nothing here starts it the same way. */
  readonly reason?: Message;
}

/** Adds the trigger of a workflow. */
export function addTrigger(compiler: Compiler, node: N8nNode): Triggered {
  const polling = addPolling(compiler, node);
  if (polling !== null) return { id: polling.id, outs: [polling.out], answer: 'none', node, times: [] };
  const events = wahaOuts(compiler, node);
  const [first] = events ?? [];
  if (events !== null && first !== undefined)
    return { id: first.ref.owner ?? '', outs: events, answer: 'none', node, times: [] };
  const hasChat = compiler.builder.hasType('trigger.chat');
  const plan = planOf(node, compiler.workflow.settings.timezone, hasChat);
  const id = compiler.add(node, { type: plan.type, config: plan.config, scope: TOP, after: [] });
  for (const note of plan.notes ?? []) compiler.approximate(node, note);
  if (plan.reason !== undefined) {
    compiler.report.dropped({ node: node.name, type: node.type }, plan.reason);
    dropPartsOf(compiler, node);
  }
  // What a webhook receives besides the body has a place of its own.
  const path = plan.path ?? (plan.shape === undefined ? 'trigger.data' : 'trigger');
  const files = kindOfFiles(compiler, node, plan.config);
  const ref = { kind: 'one' as const, path, scope: TOP, owner: id, ...(files === null ? {} : { files }) };
  const shaped = plan.shape === undefined ? ref : { ...ref, shape: plan.shape };
  const { answer = 'none', times = [] } = plan;
  const outs = outsByMethod(compiler, node, { exit: { id, handle: 'out' }, ref: shaped });
  return { id, outs, answer, node, times };
}

/** Files that a form asks for, by both names that n8n has for them; null if there are none. */
function kindOfFiles(
  compiler: Compiler,
  node: N8nNode,
  config: TriggerPlan['config'],
): { readonly [name: string]: string } | null {
  const { kind, parameters } = node;
  const { fields } = config;
  if (kind === 'emailReadImap' && config.attachments === true)
    return listedFiles(textOf(parameters.dataPropertyAttachmentsPrefixName) ?? 'attachment_');
  // A raw body is a text here, not a file.
  const isRaw = parameterOf(node, 'options.rawBody') === true;
  const isBinary = parameterOf(node, 'options.binaryData') === true;
  if (kind === 'webhook' && !isRaw && (isBinary || feedsFile(compiler, node))) {
    config.body = 'files';
    node.asked.add('options.binaryPropertyName');
    return filesOfCall(compiler);
  }
  if (kind !== 'formTrigger') return null;
  const given = arrayOf(fields)
    .map(objectOf)
    .filter(({ type }) => type === 'file');
  const names = given.flatMap(({ name, label, multiple }) => {
    const path = extend('trigger.data', [textOf(name) ?? '', ...(multiple === true ? ['0'] : [])]);
    const plain = (textOf(label) ?? '').replaceAll(/\W/g, '_');
    return [textOf(name) ?? '', plain, `${plain}_0`].map((each) => [each, path] as const);
  });
  return names.length === 0 ? null : Object.fromEntries(names);
}

/** Services that call a webhook and whose body n8n passes on as it is. */
const CALLED =
  /^(?:telegram|github|gitlab|stripe|typeform|pipedrive|lemlist|calendly|jotForm|jira|shopify|wooCommerce|slack|facebook|facebookLeadAds|whatsApp|hubspot|trello|asana|clickUp|linear|mailchimp|intercom|webflow|wise|sendPulse|mondayCom|bitbucket|zendesk|twilio|figma|calCom|surveyMonkey|box|acuityScheduling|activeCampaign|chargebee|convertKit|customerIo|eventbrite|formstack|getResponse|gumroad|helpScout|keap|kobo|mailerLite|mautic|netlify|payPal|postmark|strava|taiga|toggl|workable|wufoo|zoom|ko-fi|koFi|brevo|sendInBlue|formIo|copper|emelia|iterable|onfleet|rocketchat|microsoftTeams|discord)Trigger$/;

/** @param hasChat whether there is a chat already: a workflow has one at most */
function planOf(node: N8nNode, zone: JsonValue | undefined, hasChat: boolean): TriggerPlan {
  const { kind } = node;
  const listening = listeningOf(node);
  if (listening !== null) return listening;
  if (/^(?:manualTrigger|start|n8nTrainingCustomerDatastore|evaluationTrigger)$/.test(kind))
    return { type: 'trigger.manual', config: {} };
  if (kind === 'executeWorkflowTrigger') return { type: 'trigger.manual', config: {}, answer: 'caller' };
  if (kind === 'errorTrigger')
    return { type: 'trigger.manual', config: {}, notes: [message('import.error_trigger')] };
  if (kind === 'webhook') return webhook(node);
  if (kind === 'scheduleTrigger' || kind === 'cron' || kind === 'interval') return schedule(node, zone);
  if (kind === 'rssFeedReadTrigger') return feed(node);
  const isPage =
    kind === 'manualChatTrigger' || (kind === 'chatTrigger' && node.parameters.mode !== 'webhook');
  if (isPage && !hasChat) return { type: 'trigger.chat', ...chatOf(node) };
  // A page of its author's own asks it.
  if (isPage || kind === 'chatTrigger')
    return {
      type: 'trigger.webhook',
      config: { respond: 'when_done' },
      answer: 'chat',
      notes: [message('import.chat_trigger')],
    };
  if (kind === 'formTrigger') return { type: 'trigger.form', ...formOf(node) };
  if (CALLED.test(kind)) {
    return { type: 'trigger.webhook', config: {}, notes: [message('import.service_calls_webhook')] };
  }
  const reason = kind === 'mcpTrigger' ? message('import.mcp_trigger') : message('import.unknown_trigger');
  return { type: 'trigger.manual', config: {}, reason };
}

/** What n8n calls the members of a feed's item. */
const FEED_SHAPE: Shape = {
  title: ['title'],
  link: ['url'],
  guid: ['id'],
  id: ['id'],
  creator: ['author'],
  author: ['author'],
  content: ['content_html'],
  contentSnippet: ['summary'],
  summary: ['summary'],
  categories: ['categories'],
  pubDate: ['published_at'],
  isoDate: ['published_at'],
};

function feed(node: N8nNode): TriggerPlan {
  const url = textOf(node.parameters.feedUrl) ?? '';
  const isFixed = !url.startsWith('=');
  const { seconds, isExact } = pollInterval(node);
  const notes = [
    ...(isFixed ? [] : [message('import.feed_url_expression')]),
    ...(isExact ? [] : [message('import.polled_at_interval')]),
  ];
  return {
    type: 'trigger.rss',
    config: { url: isFixed ? url : '', interval_s: seconds },
    shape: FEED_SHAPE,
    path: 'trigger.data',
    notes,
  };
}

function webhook(node: N8nNode): TriggerPlan {
  const { parameters } = node;
  const mode = textOf(parameters.responseMode) ?? 'onReceived';
  const methods = methodsOf(parameters).filter((each) => METHODS.has(each));
  const path = textOf(parameters.path) ?? '';
  const check = CHECKS[textOf(parameters.authentication) ?? 'none'];
  const listed = textOf(parameterAt(parameters, 'options.ipWhitelist')) ?? '';
  if (!listed.startsWith('=')) node.asked.add('options.ipWhitelist');
  const addresses = listed
    .replace(/^=.*/s, '')
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean);
  const notes: Message[] = [];
  if (check !== undefined) notes.push(message('import.choose_credential'));
  const answer: Answer =
    mode === 'lastNode' ? 'last_node' : mode === 'responseNode' ? 'respond_node' : 'none';
  if (answer === 'last_node') notes.push(message('import.answered_at_end'));
  if (!methods.includes('POST')) notes.push(message('import.post_accepted'));
  // Anyone may call, from any page.
  if (parameterAt(parameters, 'options.allowedOrigins') === '*') node.asked.add('options.allowedOrigins');
  if (answer === 'respond_node') for (const option of OF_OTHER_ANSWERS) node.asked.add(`options.${option}`);
  if (answer === 'none' && (parameters.responseCode ?? 200) !== 200)
    notes.push(message('import.settings_left_out', { names: 'responseCode' }));
  return {
    type: 'trigger.webhook',
    config: {
      ...(methods.every((method) => method === 'POST') ? {} : { methods }),
      // Without parameters, it only made the address unique, as the hash does.
      ...(path.includes(':') ? { path: path.replace(/^\/|\/$/g, '') } : {}),
      ...(check === undefined ? {} : { signature: check }),
      ...(addresses.length === 0 ? {} : { ip_allow_list: addresses.slice(0, 200) }),
      ...(answer === 'none' ? {} : { respond: answer === 'last_node' ? 'when_done' : 'by_node' }),
    },
    shape: {
      body: ['data'],
      query: ['request', 'query'],
      params: ['request', 'params'],
      headers: ['request', 'headers'],
      webhookUrl: null,
      executionMode: null,
    },
    answer,
    notes,
  };
}

/** The methods with which a webhook is called: a list if each has an output of its own. */
function methodsOf({ httpMethod, multipleMethods }: JsonObject): readonly string[] {
  if (httpMethod === undefined && multipleMethods === true) return ['GET', 'POST'];
  const listed = httpMethod !== undefined && isJsonArray(httpMethod) ? httpMethod : [httpMethod];
  return listed.map((each) => textOf(each) ?? 'GET');
}

/** The outputs of a trigger: one for each method of a webhook, unless all of them lead to the same nodes. */
function outsByMethod(compiler: Compiler, node: N8nNode, out: Out): readonly Out[] {
  const values = node.kind === 'webhook' ? methodsOf(node.parameters) : [];
  const targets = values.map((_method, output) => targetsOf(compiler, node, output));
  if (targets.every((each) => each === targets[0])) return [out];
  return branchesBy(compiler, node, { label: 'method', left: '{{trigger.request.method}}', values }, out);
}

function targetsOf(compiler: Compiler, { name }: N8nNode, output: number): string {
  const links = compiler.started.links.filter((link) => link.from === name && link.output === output);
  return JSON.stringify(links.map(({ to, input }) => `${to}\n${input}`).toSorted());
}

/** Options that n8n itself reads only if no node answers. */
const OF_OTHER_ANSWERS = [
  'responseCode',
  'responseData',
  'responsePropertyName',
  'responseContentType',
  'noResponseBody',
];

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** How n8n checks who calls, as checks that lack their secret. */
const CHECKS: { readonly [name: string]: { readonly [member: string]: JsonValue } | undefined } = {
  basicAuth: { preset: 'basic', credential_id: 0, username: '' },
  headerAuth: { preset: 'token', credential_id: 0, location: 'header', name: '' },
  jwtAuth: { preset: 'jwt_secret', credential_id: 0 },
};

/** A header or query parameter of a call in a template, and how code reads it of a whole item. Quotes are escaped: it is searched in JSON. */
const IN_TEMPLATES = /trigger\.request\.(headers|query)(?:\.([\w$-]+)|\[\\"([^"\\]+)\\"\])?/g;
const IN_CODE = /\b(headers|query)(?:\?\.|\.)?(?:([A-Za-z_$][\w$]*)|\[(?:\\"|')([^"'\\]+)(?:\\"|')\])/g;

/** Gives the webhooks of a workflow different paths, by which calls of its one address are told apart. */
export function separateWebhooks(compiler: Compiler, triggered: readonly Triggered[]): void {
  const taken = new Set<string>();
  for (const { id, node } of triggered) {
    const config = compiler.builder.config(id);
    if (config === undefined || compiler.builder.typeOf(id) !== 'trigger.webhook') continue;
    const own = textOf(config.path) ?? '';
    const written = (textOf(node.parameters.path) ?? '').replace(/^\/|\/$/g, '');
    const slug = id.replaceAll('_', '-');
    const path = [own, written, slug].find((each) => isWebhookPath(each) && !taken.has(shapeOfPath(each)));
    const chosen = path ?? `${slug}-${taken.size + 1}`;
    taken.add(shapeOfPath(chosen));
    if (chosen === own) continue;
    config.path = chosen;
    compiler.approximate(node, message('import.webhook_path', { path: chosen }));
  }
}

/** A schedule of several times becomes several triggers, which lead to the same nodes. */
export function repeatTimes(compiler: Compiler, triggered: readonly Triggered[], max: number): void {
  let count = triggered.length;
  for (const { id, node, times } of triggered) {
    const config = compiler.builder.config(id);
    for (const [index, schedule] of times.entries()) {
      if (count >= max || config === undefined) {
        compiler.approximate(node, message('import.times_left_out', { max }));
        break;
      }
      count += 1;
      const label = `${node.name} ${index + 2}`;
      const other = compiler.add(node, {
        ...{ type: 'trigger.schedule', label, scope: TOP, after: [] },
        config: { ...config, schedule },
      });
      compiler.builder.connectAs(id, other);
    }
  }
}

/** Lists what the workflow reads of its calls: nothing else is kept. */
export function keepWhatIsRead(compiler: Compiler, { id, node }: Triggered): void {
  const config = compiler.builder.config(id);
  if (config === undefined || compiler.builder.typeOf(id) !== 'trigger.webhook') return;
  const lists = { headers: new Set<string>(), query: new Set<string>() };
  const text = compiler.builder.text();
  const read = [...text.matchAll(IN_TEMPLATES)];
  const isWhole = read.some(([, , name, quoted]) => (name ?? quoted) === undefined);
  for (const [, member, name, quoted] of isWhole ? [...read, ...text.matchAll(IN_CODE)] : read) {
    const found = name ?? quoted;
    if (found !== undefined) lists[member === 'headers' ? 'headers' : 'query'].add(found);
  }
  for (const [member, names] of Object.entries(lists)) {
    const kept = [...names].filter((each) => !isSecretName(each)).slice(0, 50);
    if (kept.length < names.size) compiler.approximate(node, message('import.secret_not_kept'));
    if (kept.length > 0) config[member] = kept;
  }
  if (isWhole) compiler.approximate(node, message('import.list_what_is_kept'));
}

function schedule(node: N8nNode, zone: JsonValue | undefined): TriggerPlan {
  const name = textOf(zone);
  const timezone = name !== null && isNamedZone(name) ? name : 'UTC';
  const rules =
    node.kind === 'scheduleTrigger'
      ? arrayOf(parameterAt(node.parameters, 'rule.interval')).map(objectOf)
      : [];
  const times =
    node.kind === 'scheduleTrigger'
      ? rules.map(newRule)
      : node.kind === 'cron'
        ? arrayOf(parameterAt(node.parameters, 'triggerTimes.item')).map((each) => oldRule(objectOf(each)))
        : [every(Number(node.parameters.interval ?? 1), textOf(node.parameters.unit) ?? 'seconds')];
  const [first = every(1, 'days'), ...others] = times;
  return {
    type: 'trigger.schedule',
    config: { schedule: first, timezone },
    times: others,
    notes: rules.flatMap(intervalNote),
  };
}

/** What differs of an interval that cron can't say. */
function intervalNote(rule: Time): readonly Message[] {
  const field = textOf(rule.field) ?? 'days';
  if (field === 'weeks' && whole(rule.weeksInterval, 1) > 1) return [message('import.every_week')];
  return field === 'days' && whole(rule.daysInterval, 1) > 1 ? [message('import.days_by_month')] : [];
}

type Time = { readonly [name: string]: JsonValue };

function newRule(rule: Time): Time {
  const field = textOf(rule.field) ?? 'days';
  const at = (name: string, otherwise: number) => whole(rule[name], otherwise);
  const minute = at('triggerAtMinute', 0);
  const hour = at('triggerAtHour', 0);
  switch (field) {
    case 'cronExpression':
      return cron(textOf(rule.expression)?.replace(/^=/, '') ?? '0 0 * * *');
    case 'seconds':
      return every(at('secondsInterval', 30), 'seconds');
    case 'minutes':
      return every(at('minutesInterval', 5), 'minutes');
    case 'hours':
      return at('hoursInterval', 1) === 1
        ? cron(`${minute} * * * *`)
        : cron(`${minute} */${Math.min(at('hoursInterval', 1), 23)} * * *`);
    case 'weeks': {
      const days = arrayOf(rule.triggerAtDay).filter((day) => typeof day === 'number');
      return cron(`${minute} ${hour} * * ${days.length === 0 ? 0 : days.join(',')}`);
    }
    case 'months':
      return cron(
        `${minute} ${hour} ${at('triggerAtDayOfMonth', 1)} */${Math.min(at('monthsInterval', 1), 12)} *`,
      );
    default: {
      const days = at('daysInterval', 1);
      return cron(`${minute} ${hour} ${days === 1 ? '*' : `*/${Math.min(days, 31)}`} * *`);
    }
  }
}

function oldRule(rule: Time): Time {
  const at = (name: string, otherwise: number) => whole(rule[name], otherwise);
  const minute = at('minute', 0);
  const hour = at('hour', 14);
  switch (textOf(rule.mode) ?? 'everyDay') {
    case 'everyMinute':
      return every(1, 'minutes');
    case 'everyHour':
      return cron(`${minute} * * * *`);
    case 'everyX':
      return every(at('value', 2), textOf(rule.unit) ?? 'hours');
    case 'everyWeek':
      return cron(`${minute} ${hour} * * ${at('weekday', 1)}`);
    case 'everyMonth':
      return cron(`${minute} ${hour} ${at('dayOfMonth', 1)} * *`);
    case 'custom':
      return cron(textOf(rule.cronExpression) ?? '0 0 * * *');
    default:
      return cron(`${minute} ${hour} * * *`);
  }
}

/** Older nodes write numbers as texts. */
function whole(value: JsonValue | undefined, otherwise: number): number {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 ? number : otherwise;
}

function cron(text: string): Time {
  return { type: 'cron', cron: text.trim() };
}

function every(count: number, unit: string): Time {
  const isKnown = ['seconds', 'minutes', 'hours', 'days'].includes(unit);
  const safe = Number.isInteger(count) && count > 0 ? Math.min(count, 100_000) : 1;
  return { type: 'every', every: safe, unit: isKnown ? unit : 'hours' };
}
