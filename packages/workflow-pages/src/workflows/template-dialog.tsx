import '@millrace/ui/i18n/parts/gallery.ts';
import '@millrace/ui/i18n/parts/credentials.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/forms.ts';
import '@millrace/ui/i18n/parts/workflows.ts';
import { Box, Text } from '@mantine/core';
import type { Credential, Template } from '@millrace/admin-api';
import { FlowThumbnail } from '@millrace/editor/canvas/flow-thumbnail.tsx';
import { Field } from '@millrace/editor/fields/field.tsx';
import { withMember } from '@millrace/editor/form/field-props.ts';
import { FormContext, PLAIN_FORM } from '@millrace/editor/form/form-context.tsx';
import { NewCredential } from '@millrace/editor/form/new-credential.ts';
import type { Schema } from '@millrace/editor-model/field-shape.ts';
import { isJsonArray, isRawNumber, type JsonObject, type JsonValue } from '@millrace/engine';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCreateWorkflow } from './create-workflow.ts';
import { NameField } from './name-field.tsx';
import { NewCredentialDialog } from './new-credential-dialog.tsx';
import { onlyCredentials, openSteps } from './template-needs.ts';
import { useVariableName } from './template-text.ts';

const PICTURE_HEIGHT = 200;

/** The template's variables; all can be filled in later. */
export function TemplateDialog({
  template,
  credentials,
  onClose,
}: {
  template: Template;
  /** Those of the organisation. */
  credentials: readonly Credential[];
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const nameOf = useVariableName();
  const [name, setName] = useState(template.name);
  const [vars, setVars] = useState<{ readonly [name: string]: JsonValue }>(() => ({
    ...Object.fromEntries(
      template.setup.filter((step) => step.credential_types === null).map((step) => [step.var, step.value]),
    ),
    ...onlyCredentials(template, credentials),
  }));
  const create = useCreateWorkflow();
  return (
    <FormDialog
      title={template.name}
      action={t('workflows.create')}
      size="lg"
      isReady={name.trim() !== ''}
      isBusy={create.isPending}
      onSubmit={() => create.mutate({ name, template: { id: template.id, vars: vars as JsonObject } })}
      onClose={onClose}
    >
      <Box h={PICTURE_HEIGHT} aria-hidden inert>
        <FlowThumbnail flow={template.flow_data} />
      </Box>
      <Text size="sm" style={{ whiteSpace: 'pre-line' }}>
        {template.description}
      </Text>
      <NameField value={name} onChange={setName} />
      <NewCredential value={NewCredentialDialog}>
        <FormContext value={{ ...PLAIN_FORM, whole: vars as JsonObject }}>
          {template.setup.map((step) => (
            <Field
              key={step.var}
              name={step.var}
              schema={schemaOf(step, nameOf(step.var))}
              value={vars[step.var]}
              pointer={`/${step.var}`}
              onChange={(value) => setVars((old) => withMember(old, step.var, value))}
            />
          ))}
        </FormContext>
      </NewCredential>
      <MissingVariables steps={template.setup} vars={vars} />
      {template.companions.length > 0 && (
        <Hint>
          {t('workflows.withCompanions', {
            names: template.companions.map((each) => each.name).join(t('common.listSeparator')),
          })}
        </Hint>
      )}
    </FormDialog>
  );
}

/** Variables not filled in yet, and where to do so later. */
function MissingVariables({
  steps,
  vars,
}: {
  steps: Template['setup'];
  vars: { readonly [name: string]: JsonValue };
}) {
  const { t } = useTranslation();
  const nameOf = useVariableName();
  const open = openSteps(steps, vars);
  if (open.length === 0) return null;
  const names = open.map((step) => nameOf(step.var)).join(t('common.listSeparator'));
  return <Hint role="status">{t('gallery.leftOpen', { names })}</Hint>;
}

function schemaOf(step: Template['setup'][number], title: string): Schema {
  const about = { title, description: step.description };
  if (step.credential_types !== null) {
    const start = step.new_credential === null ? {} : { 'x-new-credential': step.new_credential };
    return { ...about, type: 'integer', 'x-credential': step.credential_types, ...start };
  }
  if (isJsonArray(step.value)) return { ...about, type: 'array', items: { type: 'string' } };
  return { ...about, type: typeof step.value === 'number' || isRawNumber(step.value) ? 'number' : 'string' };
}
