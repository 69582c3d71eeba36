import '@millrace/ui/i18n/parts/editor.ts';
import { PastedCredential } from '@millrace/editor/fields/pasted-credential.tsx';
import type { NodeCredential } from '@millrace/editor-model/editor-state.ts';
import { useEditorStore } from '@millrace/editor-model/store.ts';

/** Stores the secret of a curl command that was pasted onto the canvas, for the node that it became. */
export function OfferedCredential({ nodeId, credential }: NodeCredential) {
  const store = useEditorStore();
  const { changeNode, offerCredential } = store.getState();
  const keep = (id: number) =>
    changeNode(nodeId, 'auth', (node) => {
      const auth = { type: 'credential', credential_id: id };
      return { ...node, data: { ...node.data, config: { ...node.data?.config, auth } } };
    });
  return <PastedCredential offer={credential} onKept={keep} onClose={() => offerCredential(null)} />;
}
