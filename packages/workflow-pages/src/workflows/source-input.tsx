import { Button, FileButton, Group, Stack } from '@mantine/core';
import { Code } from '@millrace/ui/components/code.tsx';
import { Muted } from '@millrace/ui/components/text.tsx';
import { FileUp } from 'lucide-react';
import { type DragEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './import-dialog.module.css';
import type { GivenText } from './import-sources.ts';

/** Where exports are chosen, dropped or pasted. */
export function SourceInput({
  texts,
  onFiles,
  onPaste,
}: {
  texts: readonly GivenText[];
  onFiles: (files: readonly File[]) => void;
  onPaste: (text: string) => void;
}) {
  const { t } = useTranslation();
  const [first, ...others] = texts;
  const text = first !== undefined && others.length === 0 && typeof first.text === 'string' ? first.text : '';
  return (
    <DropZone onFiles={onFiles}>
      <Stack gap="sm">
        <Muted>{t('workflows.importHint')}</Muted>
        <Group gap="xs">
          <FileButton multiple accept="application/json,.json,.yml,.yaml" onChange={onFiles}>
            {(props) => (
              <Button {...props} variant="default" leftSection={<FileUp size={14} />}>
                {t('workflows.chooseFiles')}
              </Button>
            )}
          </FileButton>
          <Muted truncate maw={320}>
            {others.length > 0
              ? t('workflows.chosenFiles', { count: texts.length })
              : first?.fileName || t('workflows.dropFiles')}
          </Muted>
        </Group>
        <div>
          <Muted mb={4}>{t('workflows.pasteHere')}</Muted>
          <Code
            value={text}
            onChange={(next) => next !== text && onPaste(next)}
            language="json"
            label={t('workflows.pasteHere')}
            maxHeight={240}
          />
        </div>
      </Stack>
    </DropZone>
  );
}

function DropZone({ onFiles, children }: { onFiles: (files: readonly File[]) => void; children: ReactNode }) {
  const [isOver, setIsOver] = useState(false);
  const hasFile = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes('Files');
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a mouse shortcut for the button inside
    <div
      className={classes.zone}
      data-over={isOver || undefined}
      onDragOverCapture={(event) => {
        if (!hasFile(event)) return;
        event.preventDefault();
        event.stopPropagation();
        setIsOver(true);
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setIsOver(false);
      }}
      onDropCapture={(event) => {
        if (!hasFile(event)) return;
        event.preventDefault();
        event.stopPropagation();
        setIsOver(false);
        onFiles([...event.dataTransfer.files]);
      }}
    >
      {children}
    </div>
  );
}
