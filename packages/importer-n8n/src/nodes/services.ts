import type { JsonValue } from '@millrace/engine';
import services from './services.json' with { type: 'json' };

/** One operation of a service as an HTTP call. `{name}` stands for a parameter of the original; see `service-call.ts`. */
export interface Operation {
  readonly method?: string;
  readonly url: string;
  /** Its parameters, or what stands for all of them. */
  readonly query?: JsonValue;
  readonly body?: JsonValue;
  /** The body is sent as a form. */
  readonly form?: boolean;
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
export const SERVICES: { readonly [kind: string]: Service } = services;
