import { type Static, Type } from 'typebox';
import { ANY_FILE, type Endpoints } from './endpoint.ts';
import { Closed } from './forms.ts';

/** A file that an execution refers to. */
export const ExecutionFile = Closed({
  id: Type.String(),
  name: Type.String(),
  /** Media type, as its sender gave it. */
  type: Type.String(),
  /** In bytes. */
  size: Type.Integer({ minimum: 0 }),
});
export type ExecutionFile = Static<typeof ExecutionFile>;

export const FILE_ENDPOINTS = {
  'GET /orgs/:org/executions/:execution/files': {
    access: 'viewer',
    summary: 'Of these ids, separated by commas, the files that the execution refers to',
    query: Closed({
      /** 50 at most. */
      ids: Type.String({ pattern: '^[0-9a-f-]{36}(,[0-9a-f-]{36}){0,49}$' }),
    }),
    response: Closed({ items: Type.Array(ExecutionFile) }),
  },
  'GET /orgs/:org/executions/:execution/files/:file': {
    access: 'viewer',
    summary: 'The content of a file that the execution refers to, or a range of it',
    file: ANY_FILE,
  },
} as const satisfies Endpoints;
