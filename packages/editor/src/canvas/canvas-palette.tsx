import type { NodePreset } from '@millrace/editor-model/editor-state.ts';
import { rememberType } from '@millrace/editor-model/recent-types.ts';
import { useEditor, useEditorStore } from '@millrace/editor-model/store.ts';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { loadInReserve } from '@millrace/ui/components/load-in-reserve.ts';
import { notifyFailure } from '@millrace/ui/components/notify.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { PaletteRequest } from './canvas-actions.ts';
import { wholeTypes } from './use-connectors.ts';

const loadPalette = () => import('./palette.tsx');
const Palette = lazyPart(
  async () => (await loadPalette()).Palette,
  ({ search, onSearch }) => <PaletteLoading search={search} onSearch={onSearch} />,
);

/** What is typed while the palette loads isn't lost, and isn't taken for keys of the canvas. */
function PaletteLoading({ search, onSearch }: { search: string; onSearch: (search: string) => void }) {
  const { t } = useTranslation();
  return (
    <div className="flow-palette">
      <input
        // biome-ignore lint/a11y/noAutofocus: it was opened to type into
        autoFocus
        aria-label={t('editor.searchNodes')}
        value={search}
        onChange={({ currentTarget }) => onSearch(currentTarget.value)}
      />
    </div>
  );
}

/** The palette, if it was asked for, or if a trigger is to be replaced; loaded ahead where the flow can be changed. */
export function CanvasPalette({
  request,
  onAdd,
  onReplaced,
  onClose,
}: {
  request: PaletteRequest | null;
  onAdd: (type: string, request: PaletteRequest, preset?: NodePreset) => void;
  onReplaced: (nodeId: string) => void;
  onClose: () => void;
}) {
  const store = useEditorStore();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const replaced = useEditor((state) => state.replacedTrigger);
  const isOpen = request !== null || replaced !== null;
  const [search, setSearch] = useState('');
  if (!isOpen && search !== '') setSearch('');
  const client = useQueryClient();
  useEffect(() => {
    if (isReadOnly) return;
    return loadInReserve(() => Promise.all([loadPalette(), client.ensureQueryData(wholeTypes)]));
  }, [isReadOnly, client]);
  if (!isOpen) return null;

  const place = request ?? {};
  const close = () => {
    onClose();
    store.getState().askForTrigger(null);
  };
  const choose = (type: string) => {
    if (replaced === null) return onAdd(type, place);
    close();
    store.getState().replaceTrigger(replaced, type);
    rememberType(type);
    onReplaced(replaced);
  };
  /** A service without a node of its own. */
  const chooseService = async (type: string, wanted: string) => {
    const { httpPresetFor } = await import('@millrace/editor-model/http-presets.ts');
    onAdd(type, place, httpPresetFor(wanted));
  };
  return (
    <Palette
      request={place}
      replaced={replaced}
      search={search}
      onSearch={setSearch}
      onClose={close}
      onChoose={choose}
      onChooseService={(type, wanted) => void chooseService(type, wanted).catch(notifyFailure)}
    />
  );
}
