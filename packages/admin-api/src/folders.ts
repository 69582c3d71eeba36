import { type Static, Type } from 'typebox';
import type { Endpoints } from './endpoint.ts';
import { Closed, Id, Nullable } from './forms.ts';

export const FolderName = Type.Unsafe<string>({ type: 'string', 'x-name': [1, 100] });

/** A folder of workflows. */
export const Folder = Closed({
  id: Id,
  name: Type.String(),
  /** The folder it is in, which is in no other one; null: in none. */
  parent_id: Nullable(Id),
});
export type Folder = Static<typeof Folder>;

export const FOLDER_ENDPOINTS = {
  'GET /orgs/:org/folders': {
    access: 'viewer',
    summary: 'The folders of workflows, by name',
    response: Closed({ items: Type.Array(Folder) }),
  },
  'POST /orgs/:org/folders': {
    access: 'editor',
    summary: 'Create a folder. 409 folder_exists, too_many_folders',
    body: Closed({ name: FolderName, parent_id: Type.Optional(Nullable(Id)) }),
    response: Folder,
  },
  'PATCH /orgs/:org/folders/:folder': {
    access: 'editor',
    summary: 'Rename or move a folder. 409 folder_exists',
    body: Closed({ name: Type.Optional(FolderName), parent_id: Type.Optional(Nullable(Id)) }),
    response: Folder,
  },
  'DELETE /orgs/:org/folders/:folder': {
    access: 'editor',
    summary: 'Delete a folder with those in it; their workflows move to where it was',
  },
} as const satisfies Endpoints;
