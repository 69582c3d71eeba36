import { Outlet } from '@tanstack/react-router';
import { useLanguageOfAccount } from '../api/account-language.ts';
import { useFocusReturn } from '../ui/use-focus-return.ts';

/** What is around every page. */
export function Root() {
  useLanguageOfAccount();
  useFocusReturn();
  return <Outlet />;
}
