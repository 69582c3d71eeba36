import { type ComponentType, createContext } from 'react';

export interface NewCredentialProps {
  readonly onlyTypes: readonly string[];
  readonly onKept: (credential: { readonly id: number }) => void;
  readonly onClose: () => void;
}

/** What a credential is made with, where one can be; it is the same as on the page of credentials. */
export const NewCredential = createContext<ComponentType<NewCredentialProps> | null>(null);
