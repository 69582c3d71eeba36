import { Suspense } from 'react';
import type { NewCredentialProps } from '../../forms/new-credential.ts';
import { lazyPart } from '../../ui/lazy-part.tsx';

const CredentialDialog = lazyPart(
  async () => (await import('../credentials/credential-dialog.tsx')).CredentialDialog,
);

/** Makes a credential from within a node's form. */
export function NewCredentialDialog(props: NewCredentialProps) {
  return (
    <Suspense fallback={null}>
      <CredentialDialog credential={null} {...props} />
    </Suspense>
  );
}
