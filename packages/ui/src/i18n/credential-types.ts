import './parts/credentials.ts';
import type { TFunction } from 'i18next';
import credentialTexts from './en/credentials.json';

/** Types of credentials with translated texts. */
type KnownType = keyof typeof credentialTexts.types;

export function isKnownType(type: string): type is KnownType {
  return Object.hasOwn(credentialTexts.types, type);
}

/** What people call a type of credential. @param otherwise of a type without translated texts */
export function titleOfType(type: string, t: TFunction, otherwise = type): string {
  return isKnownType(type) ? t(`credentials.types.${type}.title`) : otherwise;
}
