import type { VersionAuthor } from '@millrace/admin-api';
import { useTranslation } from 'react-i18next';

/** Who made a version, in words. */
export function useAuthorName(): (author: VersionAuthor | null) => string {
  const { t } = useTranslation();
  return (author) => {
    if (author === null) return t('editor.versions.somebody');
    return author.kind === 'api_key' ? t('editor.versions.byKey', { name: author.name }) : author.name;
  };
}
