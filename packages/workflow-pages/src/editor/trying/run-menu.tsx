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
    ['form', t('workplace.trying.withForm'), known?.schema != null],
    ['json', t('workplace.trying.withJson'), true],
    ['sample', t('workplace.trying.withSample'), known?.sample != null],
    ['past', t('workplace.trying.withPast'), (known?.executions.length ?? 0) > 0],
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
          aria-label={t('workplace.trying.choose')}
          title={t('workplace.trying.choose')}
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
          {t('workplace.trying.watch')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
