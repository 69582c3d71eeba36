import { type Static, Type } from 'typebox';
import { NodeType, NodeTypeOutline, TextTable } from './editor.ts';
import type { Endpoints } from './endpoint.ts';
import { Closed, explanation, Id, Nullable, Timestamp } from './forms.ts';

/** A connector that the organisation has uploaded. */
export const OwnConnector = Closed({
  /** The id in its file. */
  name: Type.String(),
  title: Type.String(),
  /** Counts its uploads. */
  revision: Type.Integer({ minimum: 1 }),
  bytes: Type.Integer({ minimum: 1 }),
  operations: Type.Integer({ minimum: 0 }),
  triggers: Type.Integer({ minimum: 0 }),
  uploaded_at: Timestamp,
  /** Address of the person; null for the operator, and if the account is gone. */
  uploaded_by: Nullable(Type.String()),
  /** Workflows that aren't archived whose saved version has it. */
  workflows: Type.Integer({ minimum: 0 }),
  /** Of those, the ones that still run with an earlier revision. */
  outdated: Type.Integer({ minimum: 0 }),
});
export type OwnConnector = Static<typeof OwnConnector>;

export const CONNECTOR_ENDPOINTS = {
  'GET /orgs/:org/connectors': {
    access: 'viewer',
    summary: "The organisation's own connectors, by name",
    response: Closed({ items: Type.Array(OwnConnector) }),
  },
  'GET /orgs/:org/connector-types': {
    access: 'viewer',
    isExact: true,
    summary: "The node types of the organisation's own connectors, with their texts in Japanese",
    response: Closed({
      items: Type.Array(
        Closed({
          items: Type.Array(NodeType),
          /** As those of `GET /connectors`, but of this connector alone. */
          ja: Closed({ nodes: TextTable, choices: TextTable }),
        }),
      ),
    }),
  },
  'GET /orgs/:org/connector-types/outline': {
    access: 'viewer',
    isExact: true,
    summary:
      "What a flow shows of the node types of these connectors of the organisation's own, with their titles in Japanese",
    query: Closed({
      /** Names, separated by commas. Those that don't exist are left out. */
      connectors: Type.String({ pattern: '^[a-z][a-z0-9_]{0,59}(,[a-z][a-z0-9_]{0,59}){0,99}$' }),
    }),
    response: Closed({
      items: Type.Array(Closed({ items: Type.Array(NodeTypeOutline), ja: Closed({ nodes: TextTable }) })),
    }),
  },
  'POST /orgs/:org/connectors': {
    access: 'org_admin',
    summary:
      'Upload the file of a connector, as its first or next revision. 422 invalid_connector with a pointer into the file per fault; 409 too_many_connectors',
    body: Closed({ file: Type.String({ minLength: 1, maxLength: 300_000 }) }),
    response: Closed({
      name: Type.String(),
      revision: Type.Integer({ minimum: 1 }),
      /** False: the newest revision has the same file. */
      is_new: Type.Boolean(),
    }),
  },
  'GET /orgs/:org/connectors/:connector/file': {
    access: 'viewer',
    summary: 'The file of the newest revision, as it was uploaded',
    file: 'application/json',
  },
  'POST /orgs/:org/connectors/:connector/workflows': {
    access: 'org_admin',
    summary:
      'Save the next workflows that run with an earlier revision as new versions with the newest one, in steps of 20. Those that would get problems stay as they are',
    body: Closed({
      /** `next` of the step before; 0: the first step. */
      after: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    }),
    response: Closed({
      saved: Type.Integer({ minimum: 0 }),
      /** Those that stay, and why: as `refused` of `POST /workflow-changes`. */
      refused: Type.Array(
        Closed({ id: Id, name: Type.String(), code: Type.String(), message: Type.String(), ...explanation }),
      ),
      /** For `after` of the next step; null: all have been seen. */
      next: Nullable(Id),
    }),
  },
  'DELETE /orgs/:org/connectors/:connector': {
    access: 'org_admin',
    summary: 'Delete a connector. 409 connector_in_use while a workflow that is not archived has it',
  },
} as const satisfies Endpoints;
