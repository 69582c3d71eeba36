import { Switch, Tooltip } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useEditorPage } from './editor-context.ts';
import { useActivation } from './use-activation.ts';

/** Puts what is on the canvas into use, or takes the workflow out of use. */
export function ActivationSwitch() {
  const { t } = useTranslation();
  const { workflow } = useEditorPage();
  const { activate, deactivate, isBusy } = useActivation();
  const isActive = workflow.status === 'active';
  return (
    <Tooltip
      label={t(`workplace.switch.${isActive ? 'on' : 'off'}`)}
      multiline
      maw={280}
      events={{ hover: true, focus: true, touch: true }}
    >
      <div>
        <Switch
          size="xs"
          color="green"
          label={t('workplace.switch.label')}
          checked={isActive}
          disabled={isBusy}
          onChange={isActive ? deactivate : activate}
        />
      </div>
    </Tooltip>
  );
}
