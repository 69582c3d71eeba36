import type { VersionAuthor } from '@millrace/admin-api';
import { useTranslation } from 'react-i18next';

/** Names a version's author. */
export function useAuthorName(): (author: VersionAuthor | null) => string {
  const { t } = useTranslation();
  return (author) => {
    if (author === null) return t('versions.unknown');
    return author.kind === 'api_key' ? t('versions.byKey', { name: author.name }) : author.name;
  };
}
