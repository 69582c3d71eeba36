import { Text, TextInput, Tooltip } from '@mantine/core';
import { ChevronDown, ChevronUp, Search } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { IconButton } from './icon-button.tsx';
import { type JsonSearch, MAX_MATCHES } from './use-json-search.ts';

export function SearchField({ search }: { search: JsonSearch }) {
  const { t } = useTranslation();
  const { text, setText, wanted, found, go } = search;
  const isAlone = found.paths.length < 2;
  return (
    <>
      <TextInput
        size="xs"
        w={150}
        aria-label={t('executions.json.search')}
        placeholder={t('executions.json.search')}
        leftSection={<Search size={12} aria-hidden />}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={({ key, shiftKey, nativeEvent }) => {
          if (key === 'Enter' && !nativeEvent.isComposing) go(shiftKey ? -1 : 1);
        }}
      />
      {wanted !== '' && (
        <>
          <Tooltip
            label={t('executions.json.tooMany', { shown: MAX_MATCHES.toLocaleString() })}
            disabled={!found.isCut}
            multiline
            maw={260}
          >
            <Text size="xs" c="dimmed" role="status">
              <Found search={search} />
            </Text>
          </Tooltip>
          <IconButton
            icon={ChevronUp}
            size="sm"
            label={t('executions.json.previous')}
            onClick={() => go(-1)}
            disabled={isAlone}
          />
          <IconButton
            icon={ChevronDown}
            size="sm"
            label={t('executions.json.next')}
            onClick={() => go(1)}
            disabled={isAlone}
          />
        </>
      )}
    </>
  );
}

function Found({ search }: { search: JsonSearch }) {
  const { t } = useTranslation();
  const { found, isSearching, index } = search;
  const count = found.paths.length;
  if (isSearching) return t('executions.json.searching');
  if (count === 0) return t('executions.json.noMatch');
  const at = index + 1;
  return found.isCut
    ? t('executions.json.matchesMore', { at, shown: count.toLocaleString() })
    : t('executions.json.matches', { at, count });
}
