import type { NewCredentialProps } from '@millrace/editor/form/new-credential.ts';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';

const CredentialDialog = lazyPart(
  async () => (await import('@millrace/credential-pages/credential-dialog.tsx')).CredentialDialog,
);

/** Creates a credential from within a node's form. */
export function NewCredentialDialog(props: NewCredentialProps) {
  return <CredentialDialog credential={null} isBrief {...props} />;
}
