import { Button, Stack, Text } from '@mantine/core';
import { useEditor } from '@millrace/editor-model/store.ts';
import { isJsonArray, isJsonObject, type JsonValue } from '@millrace/engine';
import { useRole } from '@millrace/ui/api/me.ts';
import { Hint } from '@millrace/ui/components/text.tsx';
import { ListChecks } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { withMember } from '../form/field-props.ts';

/** A form without fields of its own has those of the input schema: which they are, or a button that makes it so. Nothing if the schema describes none. */
export function FormFields({ nodeId }: { nodeId: string }) {
  const { t } = useTranslation();
  const { can } = useRole();
  const schema = useEditor(({ settings }) => settings.input_schema);
  const node = useEditor(({ nodes }) => nodes.find(({ id }) => id === nodeId));
  const changeNode = useEditor((state) => state.changeNode);
  const described = titlesIn(schema);
  if (described.length === 0 || node === undefined) return null;
  const { fields = null } = node.data?.config ?? {};
  if (!isJsonArray(fields) || fields.length === 0) {
    return (
      <div>
        <Text size="xs" fw={600}>
          {t('conversations.fields.taken')}
        </Text>
        <Hint style={{ overflowWrap: 'anywhere' }}>{described.join(', ')}</Hint>
      </div>
    );
  }
  if (!can('editor')) return null;
  const take = () =>
    changeNode(nodeId, 'fields', (old) => ({
      ...old,
      data: { ...old.data, config: withMember(old.data?.config ?? {}, 'fields', undefined) },
    }));
  return (
    <Stack gap={4}>
      <Button variant="default" w="fit-content" leftSection={<ListChecks size={14} />} onClick={take}>
        {t('conversations.fields.take')}
      </Button>
      <Hint>{t('conversations.fields.takeAbout')}</Hint>
    </Stack>
  );
}

/** What a schema calls the values that it describes. */
function titlesIn(schema: JsonValue | undefined): readonly string[] {
  if (schema === undefined || !isJsonObject(schema)) return [];
  const { properties = null } = schema;
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties).map(([name, member]) => {
    const { title = null } = member !== undefined && isJsonObject(member) ? member : {};
    return typeof title === 'string' && title.trim() !== '' ? title : name;
  });
}
