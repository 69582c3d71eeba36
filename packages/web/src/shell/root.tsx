import { useFocusReturn } from '@millrace/ui/components/use-focus-return.ts';
import { Outlet } from '@tanstack/react-router';
import { useLanguageOfAccount } from './account-language.ts';

/** The root of every page. */
export function Root() {
  useLanguageOfAccount();
  useFocusReturn();
  return <Outlet />;
}
