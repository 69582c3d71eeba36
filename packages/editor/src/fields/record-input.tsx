import { Group, Paper, Stack } from '@mantine/core';
import { initialOf, type Schema, shapeOf } from '@millrace/editor-model/field-shape.ts';
import { type JsonObject, joinPointer } from '@millrace/engine';
import { useTranslation } from 'react-i18next';
import { type FieldComponent, withMember } from '../form/field-props.ts';
import { AddButton, freeName, RemoveMemberButton } from './member-buttons.tsx';
import { MemberName } from './member-name.tsx';
import { useAddedFocus } from './use-added-focus.ts';

/** An object with user-defined member names. */
export function RecordInput({
  Field,
  member,
  value,
  onChange,
  pointer,
  label,
}: {
  Field: FieldComponent;
  member: Schema;
  value: JsonObject;
  onChange: (value: JsonObject) => void;
  pointer: string;
  label: string;
}) {
  const { t } = useTranslation();
  const entries = Object.entries(value);
  const rename = (from: string, to: string) =>
    onChange(Object.fromEntries(entries.map(([name, each]) => [name === from ? to : name, each])));
  const { frame, noteAdded } = useAddedFocus(entries.length);
  const add = () => {
    noteAdded();
    onChange({ ...value, [freeName(Object.keys(value))]: initialOf(member) });
  };
  return (
    <Stack gap="xs" ref={frame}>
      {entries.map(([name, each], index) => (
        <Paper key={`${pointer} ${index}`} withBorder p={6}>
          <Stack gap={4}>
            <Group gap={4} wrap="nowrap" align="flex-start">
              <MemberName
                // Renamed elsewhere (undo, an example): remount the field.
                key={name}
                name={name}
                taken={entries.map(([other]) => other)}
                onRename={(to) => rename(name, to)}
                label={t('forms.memberName', { label })}
              />
              <RemoveMemberButton name={name} onClick={() => onChange(withMember(value, name, undefined))} />
            </Group>
            <Field
              schema={{ ...member, title: t('forms.valueOf', { name }) }}
              name={name}
              value={each}
              isRequired
              isBare={['any', 'text'].includes(shapeOf(member).kind)}
              pointer={joinPointer(pointer, name)}
              onChange={(next) => onChange(withMember(value, name, next === undefined ? '' : next))}
            />
          </Stack>
        </Paper>
      ))}
      <AddButton to={label} onClick={add}>
        {t('forms.addMember')}
      </AddButton>
    </Stack>
  );
}
