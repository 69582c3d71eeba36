import type { JsonValue } from '@millrace/engine';
import services from './services.json' with { type: 'json' };
import more from './services-more.json' with { type: 'json' };

/** One operation of a service as an HTTP call. `{name}` stands for a parameter of the original; see `service-call.ts`. */
export interface Operation {
  readonly method?: string;
  readonly url: string;
  /** It needs no credential: whoever knows its address may call it. */
  readonly open?: boolean;
  /** Its parameters, or what stands for all of them. */
  readonly query?: JsonValue;
  readonly body?: JsonValue;
  /** The body is sent as a form. */
  readonly form?: boolean;
  /** It is sent as a form with files. */
  readonly multipart?: boolean;
  /** The items are this member of the response; `''` if the response itself is the list. */
  readonly many?: string;
  /** The item is this member of the response. */
  readonly one?: string;
}

/** A service: its operations by `resource.operation`, and what n8n assumes when one isn't named. */
export interface Service {
  readonly resource: string;
  readonly operation: string;
  readonly operations: { readonly [name: string]: Operation };
  readonly headers?: { readonly [name: string]: string };
}

/** Written from the services' public references; none of these calls was tried against the service itself. */
export const SERVICES: { readonly [kind: string]: Service } = joined(services, more);

type Services = { readonly [kind: string]: Service };

/** Both tables; a service of the second one adds operations to those of the first. */
function joined(first: Services, second: Services): Services {
  const added = Object.entries(second).map(([kind, service]): [string, Service] => {
    const known = Object.hasOwn(first, kind) ? first[kind] : undefined;
    if (known === undefined) return [kind, service];
    return [kind, { ...known, operations: { ...known.operations, ...service.operations } }];
  });
  return { ...first, ...Object.fromEntries(added) };
}

/** Names that n8n doesn't have but that files contain, by \`resource.operation\`: what is meant by them is plain. */
const MEANT: { readonly [kind: string]: { readonly [name: string]: string } } = {
  telegram: {
    'message.send': 'message.sendMessage',
    'message.post': 'message.sendMessage',
    'sendMessage.send': 'message.sendMessage',
    'message.getFile': 'file.get',
  },
  slack: {
    'message.send': 'message.post',
    'message.create': 'message.post',
    'message.postMessage': 'message.post',
  },
  discord: { 'message.post': 'message.send', 'message.create': 'message.send' },
  hubspot: {
    'contact.create': 'contact.upsert',

    'engagement.': 'engagement.create',
  },
  supabase: {
    'row.insert': 'row.create',
    'row.select': 'row.getAll',
  },
  airtable: {
    'item.getAll': 'record.search',
    'record.getAll': 'record.search',
    'record.list': 'record.search',
    'item.create': 'record.create',
  },
  twilio: { 'message.send': 'sms.send', 'smsMessage.send': 'sms.send', 'call.': 'call.make' },
  googleCalendar: {
    'calendarEvent.getAll': 'event.getAll',
    'calendarEvent.create': 'event.create',
    'calendarEvent.update': 'event.update',
  },
  microsoftOutlook: { 'message.create': 'draft.create' },
  gmail: { 'email.send': 'message.send', 'message.search': 'message.getAll' },
  notion: { 'page.getAll': 'databasePage.getAll', 'database.query': 'databasePage.getAll' },
};

/** The operation that a name which n8n doesn't have stands for; null if that isn't plain. */
export function meantOperation(kind: string, name: string): string | null {
  const own = Object.hasOwn(MEANT, kind) ? MEANT[kind] : undefined;
  return own !== undefined && Object.hasOwn(own, name) ? (own[name] ?? null) : null;
}
