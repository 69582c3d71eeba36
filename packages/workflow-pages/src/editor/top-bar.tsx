import '@millrace/ui/i18n/parts/workflow.ts';
import { Button, Divider, Group, Menu, Switch, TextInput, Tooltip, UnstyledButton } from '@mantine/core';
import { useEditor, useEditorState } from '@millrace/editor-model/store.ts';
import { useRole } from '@millrace/ui/api/me.ts';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { Play, Redo2, Undo2 } from 'lucide-react';
import { type KeyboardEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { StatusBadge } from '../workflows/status-badge.tsx';
import { ActivationSwitch } from './activation-switch.tsx';
import { DraftStatus } from './draft/draft-status.tsx';
import { SaveButton } from './draft/save-button.tsx';
import { useEditorPage } from './editor-context.ts';
import { MoreMenu } from './more-menu.tsx';
import { ToList } from './to-list.tsx';
import { RunMenu } from './trying/run-menu.tsx';
import { useActivation } from './use-activation.ts';
import { useWorkflowUpdate } from './use-workflow-update.ts';
import { VersionMenu } from './versions/version-menu.tsx';

/** The workflow's name and status, and actions on the whole workflow. */
export function TopBar({ onRun, onSettings }: { onRun: () => void; onSettings: () => void }) {
  const { t } = useTranslation();
  const { org } = useEditorPage();
  const { can } = useRole();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  return (
    <header className="editor-bar">
      <ToList org={org} />
      <WorkflowName />
      <StatusMenu />
      {!isReadOnly && <ActivationSwitch />}
      {can('editor') && <DraftStatus />}
      <span className="editor-space" />
      {!isReadOnly && <UndoButtons />}
      {can('editor') && <TestModeSwitch />}
      <Divider orientation="vertical" className="editor-wide-only" />
      <VersionMenu />
      {!isReadOnly && (
        <Button.Group>
          <Button variant="default" leftSection={<Play size={14} />} onClick={onRun}>
            {t('workplace.trying.run')}
          </Button>
          <RunMenu />
        </Button.Group>
      )}
      {!isReadOnly && <SaveButton />}
      <MoreMenu onSettings={onSettings} />
    </header>
  );
}

function WorkflowName() {
  const { t } = useTranslation();
  const { workflow } = useEditorPage();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const update = useWorkflowUpdate();
  const [text, setText] = useState<string | null>(null);
  const store = () => {
    const name = text?.trim() ?? '';
    setText(null);
    if (name !== '' && name !== workflow.name) update.mutate({ name });
  };
  if (text === null) {
    return (
      <h1 className="editor-name" style={{ margin: 0, fontSize: 'inherit' }}>
        <UnstyledButton
          disabled={isReadOnly}
          title={isReadOnly ? workflow.name : t('workplace.rename')}
          onClick={() => setText(workflow.name)}
        >
          {workflow.name}
        </UnstyledButton>
      </h1>
    );
  }
  return (
    <TextInput
      className="editor-name"
      aria-label={t('workplace.name')}
      autoFocus
      value={text}
      maxLength={255}
      onChange={({ currentTarget }) => setText(currentTarget.value)}
      onBlur={store}
      onKeyDown={(event: KeyboardEvent) => {
        if (event.key === 'Enter') store();
        if (event.key === 'Escape') setText(null);
      }}
    />
  );
}

/** The status, which editors can change. */
function StatusMenu() {
  const { t } = useTranslation();
  const { workflow } = useEditorPage();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const { activate, deactivate } = useActivation();
  const badge = <StatusBadge status={workflow.status} />;
  if (isReadOnly) return badge;
  const isActive = workflow.status === 'active';
  return (
    <Menu position="bottom-start" width={300}>
      <Menu.Target>
        <UnstyledButton
          aria-label={t('workplace.changeStatus', { status: t(`workflow.status.${workflow.status}`) })}
        >
          {badge}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t(`workplace.statusMeans.${workflow.status}`)}</Menu.Label>
        {!isActive && <Menu.Item onClick={activate}>{t('workplace.activate')}</Menu.Item>}
        {workflow.status !== 'inactive' && (
          <Menu.Item onClick={deactivate}>{t('workplace.deactivate')}</Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function UndoButtons() {
  const { t } = useTranslation();
  const { canUndo, canRedo, undo, redo } = useEditorState('canUndo', 'canRedo', 'undo', 'redo');
  return (
    <Group gap={0} wrap="nowrap">
      <IconButton icon={Undo2} label={t('editor.keys.undo')} disabled={!canUndo} onClick={undo} />
      <IconButton icon={Redo2} label={t('editor.keys.redo')} disabled={!canRedo} onClick={redo} />
    </Group>
  );
}

function TestModeSwitch() {
  const { t } = useTranslation();
  const { workflow } = useEditorPage();
  const update = useWorkflowUpdate();
  return (
    <Tooltip label={t('workplace.testMode.what')} multiline maw={300}>
      <div className="editor-wide-only">
        <Switch
          size="xs"
          label={t('workplace.testMode.label')}
          checked={workflow.is_test_mode}
          disabled={update.isPending || workflow.status === 'archived'}
          onChange={({ currentTarget }) => update.mutate({ is_test_mode: currentTarget.checked })}
        />
      </div>
    </Tooltip>
  );
}
