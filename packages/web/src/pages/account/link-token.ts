import { useLocation } from '@tanstack/react-router';

/** The token in a link's fragment (`#`), which browsers never send to a server. Null if the link is incomplete. */
export function useLinkToken(): string | null {
  const { hash } = useLocation();
  return new URLSearchParams(hash).get('token');
}
