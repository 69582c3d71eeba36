import type { FastifyRequest } from 'fastify';
import type { ApiSettings } from '../../settings.ts';

type Place = Pick<ApiSettings, 'publicUrl'>;

/**
 * A cookie's name. Over https it has the prefix `__Host-`: browsers then accept it only from this exact host, over https and for all paths
 * (RFC 6265bis, 4.1.3.2).
 */
export function cookieName(config: Place, purpose: 'session' | 'device' | 'single_sign_on'): string {
  return `${isSecure(config) ? '__Host-' : ''}millrace_${purpose}`;
}

/** A cookie that scripts can't read; a maximum age of 0 deletes it. */
export function formatCookie(config: Place, name: string, value: string, maxAgeSeconds: number): string {
  const secure = isSecure(config) ? '; Secure' : '';
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure}`;
}

/** The value of one cookie; null if it is missing or malformed. */
export function readCookie(request: FastifyRequest, name: string, form: RegExp): string | null {
  const header = request.headers.cookie ?? '';
  const values = header
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1));
  // Two of the same name: someone is trying to plant one.
  const [value] = values;
  return values.length === 1 && value !== undefined && form.test(value) ? value : null;
}

function isSecure({ publicUrl }: Place): boolean {
  return publicUrl.startsWith('https:');
}
