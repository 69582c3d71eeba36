import account from './ja/account.json';

/** The Japanese texts of accounts, which people without one are shown too. */
export const texts = { account };
