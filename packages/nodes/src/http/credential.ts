import type { CredentialType, NodeServices } from '@millrace/engine';
import { message } from '@millrace/messages';
import { noCredential } from '../credential-property.ts';
import { NodeProblem } from '../node-problem.ts';
import { authHeader, type WireRequest } from './request.ts';

/** Types of credentials that authenticate with a header. */
export const HTTP_CREDENTIAL_TYPES = [
  'bearer',
  'basic',
  'header',
] as const satisfies readonly CredentialType[];

/** A request with the header of a credential. */
export interface SignedInRequest {
  readonly request: WireRequest;
  /** The header with the secret, which is never shown. */
  readonly secretHeader: string;
}

/**
 * Opens a credential for the host of a request and adds its header to the request.
 * @throws NodeProblem when none is named, or the request has that header already
 * @throws ServiceError credential_not_found, credential_wrong_type, credential_host_not_allowed
 */
export async function applyCredential(
  request: WireRequest,
  credentialId: number,
  credentials: NodeServices['credentials'],
): Promise<SignedInRequest> {
  if (credentialId === 0) {
    throw new NodeProblem(noCredential('auth.credential_id', HTTP_CREDENTIAL_TYPES));
  }
  const credential = await credentials.open(credentialId, { types: HTTP_CREDENTIAL_TYPES, url: request.url });
  const [name, value] = authHeader(credential);
  if (Object.hasOwn(request.headers, name)) {
    throw new NodeProblem(message('nodes.header_of_credential', { name }));
  }
  return { request: { ...request, headers: { ...request.headers, [name]: value } }, secretHeader: name };
}
