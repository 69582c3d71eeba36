import { useLocation } from '@tanstack/react-router';

/** The token of a link, which stands behind `#`: browsers send that to nobody. Null when the link is incomplete. */
export function useLinkToken(): string | null {
  const { hash } = useLocation();
  return new URLSearchParams(hash).get('token');
}
