import { useFocusReturn } from '@millrace/ui/components/use-focus-return.ts';
import { Outlet, useLocation } from '@tanstack/react-router';
import { useLanguageOfAccount } from './account-language.ts';
import { AccountCommands } from './commands/account-commands.tsx';

/** The root of every page. */
export function Root() {
  useLanguageOfAccount();
  useFocusReturn();
  const isAccount = useLocation().pathname === '/account';
  return (
    <>
      {isAccount && <AccountCommands />}
      <Outlet />
    </>
  );
}
