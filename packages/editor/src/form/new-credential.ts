import type { CredentialStart } from '@millrace/editor-model/credential-start.ts';
import { type ComponentType, createContext } from 'react';

export interface NewCredentialProps {
  readonly onlyTypes: readonly string[];
  readonly start?: CredentialStart;
  readonly onKept: (credential: { readonly id: number }) => void;
  readonly onClose: () => void;
}

/** The dialog for creating a credential, the same as on the credentials page; null where none can be created. */
export const NewCredential = createContext<ComponentType<NewCredentialProps> | null>(null);
