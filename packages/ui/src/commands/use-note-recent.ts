import { useEffect } from 'react';
import { useMe, useOrg } from '../api/me.ts';
import { noteRecent, type RecentItem } from './recent.ts';

/** Remembers what is shown, for the command palette. */
export function useNoteRecent(kind: RecentItem['kind'], id: number, title: string): void {
  const org = useOrg();
  const userId = useMe()?.user.id;
  useEffect(() => {
    if (userId !== undefined) noteRecent({ userId, org }, { kind, id, title });
  }, [userId, org, kind, id, title]);
}
