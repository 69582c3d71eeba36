import '@millrace/ui/i18n/parts/canvas.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import { Kbd, Modal, Table, Text } from '@mantine/core';
import { MOD } from '@millrace/ui/commands/mod-key.ts';
import { Fragment } from 'react';
import { useTranslation } from 'react-i18next';

/** Keys of the editor; `changes`: only in editable flows. */
const EDITOR_KEYS = [
  { does: 'palette', keys: [['/'], [MOD, '/']], changes: true },
  { does: 'open', keys: [['Enter']], changes: false },
  { does: 'widen', keys: [['F2']], changes: false },
  { does: 'help', keys: [['F1']], changes: false },
  { does: 'menu', keys: [['Shift', 'F10']], changes: false },
  { does: 'move', keys: [['←', '↑', '→', '↓']], changes: true },
  { does: 'focus', keys: [['Tab']], changes: false },
  {
    does: 'selectMore',
    keys: [
      ['Shift', 'click'],
      ['Shift', 'drag'],
    ],
    changes: false,
  },
  { does: 'selectAll', keys: [[MOD, 'A']], changes: false },
  {
    does: 'copy',
    keys: [
      [MOD, 'C'],
      [MOD, 'X'],
      [MOD, 'V'],
    ],
    changes: true,
  },
  { does: 'duplicate', keys: [[MOD, 'D']], changes: true },
  { does: 'remove', keys: [['Delete'], ['Backspace']], changes: true },
  { does: 'undo', keys: [[MOD, 'Z']], changes: true },
  {
    does: 'redo',
    keys: [
      [MOD, 'Shift', 'Z'],
      [MOD, 'Y'],
    ],
    changes: true,
  },
  { does: 'save', keys: [[MOD, 'S']], changes: true },
  { does: 'run', keys: [[MOD, 'Enter']], changes: true },
  { does: 'tidy', keys: [['L']], changes: true },
  { does: 'fit', keys: [['F']], changes: false },
  { does: 'zoom', keys: [['+'], ['-']], changes: false },
  { does: 'actualSize', keys: [['0']], changes: false },
  { does: 'map', keys: [['M']], changes: false },
  { does: 'none', keys: [['Esc']], changes: false },
] as const;
/** Keys of every page. */
const EVERYWHERE = [
  { does: 'commands', keys: [[MOD, 'K']], changes: false },
  { does: 'keys', keys: [['?']], changes: false },
] as const;

type Shortcut = (typeof EDITOR_KEYS)[number] | (typeof EVERYWHERE)[number];

/** The list of keyboard shortcuts. */
export function KeyboardMap({ isReadOnly = false, onClose }: { isReadOnly?: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Modal opened onClose={onClose} title={t('editor.keys.title')} size="lg">
      <KeyTable title={t('editor.keys.everywhere')} shortcuts={EVERYWHERE} />
      <KeyTable
        title={t('editor.keys.inEditor')}
        shortcuts={EDITOR_KEYS.filter(({ changes }) => !(changes && isReadOnly))}
      />
    </Modal>
  );
}

function KeyTable({ title, shortcuts }: { title: string; shortcuts: readonly Shortcut[] }) {
  const { t } = useTranslation();
  return (
    <Table verticalSpacing={4} captionSide="top">
      <Table.Caption ta="left" fw={600} mt={0}>
        {title}
      </Table.Caption>
      <Table.Tbody>
        {shortcuts.map(({ does, keys }) => (
          <Table.Tr key={does}>
            <Table.Td>
              <Text size="sm">
                {does === 'menu' || does === 'actualSize'
                  ? t(`canvas.keys.${does}`)
                  : does === 'commands'
                    ? t('shell.commands')
                    : t(`editor.keys.${does}`)}
              </Text>
            </Table.Td>
            <Table.Td ta="right">
              {keys.map((combination, index) => (
                <Fragment key={combination.join('+')}>
                  {index > 0 && ' '}
                  <span style={{ whiteSpace: 'nowrap' }}>
                    {combination.map((key, at) => (
                      <Fragment key={key}>
                        {at > 0 && ' '}
                        <Kbd size="xs">
                          {key === 'click' || key === 'drag' ? t(`editor.keys.${key}`) : key}
                        </Kbd>
                      </Fragment>
                    ))}
                    {index < keys.length - 1 && ' ·'}
                  </span>
                </Fragment>
              ))}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
