import type { Folder } from '@millrace/admin-api';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

/** A folder with those in it, each by name. */
interface FolderBranch extends Folder {
  readonly children: readonly Folder[];
}

const NONE: readonly Folder[] = [];

/** The organisation's folders; none while loading. */
export function useFolders(): readonly Folder[] {
  const org = useOrg();
  return useQuery(endpointQuery('GET /orgs/:org/folders', { params: { org } })).data?.items ?? NONE;
}

/** The folders that are in no other, with those in them. */
export function useFolderTree(): readonly FolderBranch[] {
  const folders = useFolders();
  return useMemo(() => {
    const byParent = Map.groupBy(folders, (folder) => folder.parent_id);
    return (byParent.get(null) ?? []).map((each) => ({ ...each, children: byParent.get(each.id) ?? [] }));
  }, [folders]);
}

/** Names of a folder and the one it is in, from the outermost; empty if it isn't known. */
export function pathOf(folders: readonly Folder[], id: number | null): readonly string[] {
  const folder = folders.find((each) => each.id === id);
  if (folder === undefined) return [];
  return [...pathOf(folders, folder.parent_id), folder.name];
}

/** Folders as options of a select, by their paths. */
export function optionsOf(
  tree: readonly FolderBranch[],
): { readonly value: string; readonly label: string }[] {
  return tree.flatMap(({ id, name, children }) => [
    { value: String(id), label: name },
    ...children.map((child) => ({ value: String(child.id), label: `${name} / ${child.name}` })),
  ]);
}
