import type { CredentialOf, HttpRequest, StreamedBody } from '@millrace/engine';
import { AwsV4Signer } from 'aws4fetch';

/**
 * The headers that sign a request with AWS Signature Version 4.
 * @param datetime `20150830T123600Z`; default: now
 */
export async function awsHeaders(
  credential: Omit<CredentialOf<'aws'>, 'type'>,
  { method, url, headers = {}, body }: HttpRequest,
  datetime?: string,
): Promise<{ readonly [name: string]: string }> {
  const { access_key_id, secret_access_key, session_token, region, service } = credential;
  const signer = new AwsV4Signer({
    method,
    url,
    headers: { ...headers, ...hashOf(body) },
    ...(body === undefined || isStreamed(body) ? {} : { body: body as string }),
    accessKeyId: access_key_id,
    secretAccessKey: secret_access_key,
    ...(session_token === null ? {} : { sessionToken: session_token }),
    ...(region === null ? {} : { region }),
    ...(service === null ? {} : { service }),
    ...(datetime === undefined ? {} : { datetime }),
  });
  const signed = await signer.sign();
  return Object.fromEntries(
    [...signed.headers].filter(([name]) => !Object.hasOwn(headers, name) && name !== 'host'),
  );
}

function isStreamed(body: HttpRequest['body']): body is StreamedBody {
  return typeof body === 'object' && 'read' in body;
}

/** A body that is read while it is sent can't be hashed before, unless its hash is known. */
function hashOf(body: HttpRequest['body']): { readonly [name: string]: string } {
  return isStreamed(body) ? { 'x-amz-content-sha256': body.sha256 ?? 'UNSIGNED-PAYLOAD' } : {};
}
