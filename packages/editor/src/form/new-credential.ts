import type { JsonObject } from '@millrace/engine';
import { type ComponentType, createContext } from 'react';

/** What a new credential's form is filled with. */
export interface CredentialStart {
  readonly hosts: readonly string[];
  readonly fields: JsonObject;
}

export interface NewCredentialProps {
  readonly onlyTypes: readonly string[];
  readonly start?: CredentialStart;
  readonly onKept: (credential: { readonly id: number }) => void;
  readonly onClose: () => void;
}

/** The dialog for creating a credential, the same as on the credentials page; null where none can be created. */
export const NewCredential = createContext<ComponentType<NewCredentialProps> | null>(null);
