import { Button, Menu } from '@mantine/core';
import { ChevronDown } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useEditorPage } from '../editor-context.ts';
import type { RunSource } from './run-choice.ts';

/** Another input than the last one, and watching what others start. */
export function RunMenu() {
  const { t } = useTranslation();
  const { runForm, watch, showRun } = useEditorPage();
  const { known, source } = runForm;
  const choices: readonly (readonly [source: RunSource, label: string, isThere: boolean])[] = [
    ['form', t('editor.trying.withForm'), known?.schema != null],
    ['json', t('editor.trying.withJson'), true],
    ['sample', t('editor.trying.withSample'), known?.sample != null],
    ['past', t('editor.trying.withPast'), (known?.executions.length ?? 0) > 0],
  ];
  const choose = (next: RunSource) => {
    if (next !== source) runForm.choose(next);
    showRun();
  };
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <Button
          variant="default"
          px={6}
          aria-label={t('editor.trying.choose')}
          title={t('editor.trying.choose')}
          disabled={known === null}
        >
          <ChevronDown size={14} />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {choices.map(
          ([name, label, isThere]) =>
            isThere && (
              <Menu.Item key={name} onClick={() => choose(name)}>
                {label}
              </Menu.Item>
            ),
        )}
        <Menu.Divider />
        <Menu.Item
          onClick={() => {
            watch.all();
            showRun();
          }}
        >
          {t('editor.trying.watch')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
