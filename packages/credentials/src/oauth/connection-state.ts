import { type JsonObject, parseJson } from '@millrace/engine';
import type { CredentialRow } from '../store.ts';

/** What a person has to know about the tokens of a credential; null if they depend on nobody. */
export function connectionOf(row: CredentialRow): {
  readonly state: 'missing' | 'connected' | 'ended';
  readonly connectedAt: Date | null;
} | null {
  if (row.type !== 'oauth2' || (parseJson(row.settings) as JsonObject).grant !== 'authorization_code')
    return null;
  const { grant_state: state, connected_at: connectedAt } = row;
  if (state === 'active') return { state: 'connected', connectedAt };
  return { state: state === 'ended' ? 'ended' : 'missing', connectedAt: null };
}
