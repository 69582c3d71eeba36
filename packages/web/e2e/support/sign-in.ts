import { PASSWORD } from '@millrace/testing/accounts';
import type { Page } from 'playwright-core';

/** Fills in and submits the sign-in form. */
export async function signIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByRole('textbox', { name: 'E-mail address' }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}
