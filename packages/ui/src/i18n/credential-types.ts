import './parts/credentials.ts';
import credentialTexts from './en/credentials.json';

/** Types of credentials with translated texts. */
export type KnownType = keyof typeof credentialTexts.types;

export function isKnownType(type: string): type is KnownType {
  return Object.hasOwn(credentialTexts.types, type);
}
