import { Panel, useStore } from '@xyflow/react';
import { useTranslation } from 'react-i18next';

/** What to click after a handle was clicked. Screen readers are told by the canvas's announcements. */
export function ConnectHint() {
  const { t } = useTranslation();
  const from = useStore(({ connectionClickStartHandle }) => connectionClickStartHandle?.type ?? null);
  if (from === null) return null;
  return (
    <Panel position="top-center" className="flow-connect-hint" aria-hidden>
      {t(from === 'source' ? 'canvas.chooseNext' : 'canvas.chooseOtherEnd')}
    </Panel>
  );
}
