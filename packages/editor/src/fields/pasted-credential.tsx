import type { OfferedCredential } from '@millrace/editor-model/curl.ts';
import { useContext } from 'react';
import { NewCredential } from '../form/new-credential.ts';

/** Stores a pasted secret as a credential, in the dialog for new ones. */
export function PastedCredential({
  offer: { type, fields, hosts },
  onKept,
  onClose,
}: {
  offer: OfferedCredential;
  onKept: (id: number) => void;
  onClose: () => void;
}) {
  const Dialog = useContext(NewCredential);
  if (Dialog === null) return null;
  const start = { hosts, fields: { [type]: fields } };
  return <Dialog onlyTypes={[type]} start={start} onKept={({ id }) => onKept(id)} onClose={onClose} />;
}
