import type { IncomingHttpHeaders } from 'node:http';
import type { Use } from '@millrace/service/callbacks/use';
import Negotiator from 'negotiator';

/** What the page of an approval says in one language; what is asked stands there as its author wrote it. */
export interface ApprovalTexts {
  readonly language: Language;
  readonly comment: string;
  readonly name: string;
  /** Before and after the moment until which it is open. */
  readonly note: readonly [before: string, after: string];
  /** Sent without a choice. */
  readonly chooseOne: string;
  /** What a page says on which nothing can be decided any more; `decision` is the label of the choice. */
  readonly closed: { readonly [U in Use]: (decision: string) => ClosedText };
  /** The labels of the choices that a question has when its author sets none, by their ids. */
  readonly choices: { readonly [id: string]: string };
}

interface ClosedText {
  readonly heading: string;
  readonly text: string;
}

type Language = 'en' | 'ja';

const LANGUAGES: { readonly [L in Language]: ApprovalTexts } = {
  en: {
    language: 'en',
    comment: 'Comment (optional)',
    name: 'Your name (optional)',
    note: ['Nothing is decided until you press a button. The first decision counts. Open until ', '.'],
    chooseOne: 'Press one of the buttons to decide.',
    closed: {
      accepted: (decision) => ({
        heading: 'Thank you',
        text: `Decided: ${decision}. You can close this page.`,
      }),
      used: (decision) => ({ heading: 'Already decided', text: `Decided: ${decision}.` }),
      ended: () => ({
        heading: 'No longer needed',
        text: 'The workflow has ended, so there is nothing left to decide.',
      }),
      expired: () => ({ heading: 'Too late', text: 'This approval has expired.' }),
      unknown: () => ({
        heading: 'Not found',
        text: 'There is no approval at this URL. Check that the link is complete.',
      }),
    },
    choices: { approve: 'Approve', reject: 'Reject' },
  },
  ja: {
    language: 'ja',
    comment: 'コメント（任意）',
    name: 'お名前（任意）',
    note: ['ボタンを押すまで回答は送信されません。最初の回答が有効になります。回答期限: ', '。'],
    chooseOne: 'いずれかのボタンを押して回答してください。',
    closed: {
      accepted: (decision) => ({
        heading: 'ありがとうございました',
        text: `回答: ${decision}。このページは閉じてかまいません。`,
      }),
      used: (decision) => ({ heading: 'すでに回答済みです', text: `回答: ${decision}。` }),
      ended: () => ({
        heading: '回答は不要になりました',
        text: '承認を依頼したワークフローはすでに終了しています。',
      }),
      expired: () => ({ heading: '期限を過ぎています', text: '回答期限を過ぎました。' }),
      unknown: () => ({
        heading: '見つかりません',
        text: 'この URL に承認依頼はありません。リンクが途中で切れていないか確認してください。',
      }),
    },
    choices: { approve: '承認', reject: '却下' },
  },
};

/** The texts in the language that the reader's browser asks for before the others there are; else English. */
export function textsFor(headers: IncomingHttpHeaders): ApprovalTexts {
  const [language = 'en'] = new Negotiator({ headers }).languages(Object.keys(LANGUAGES));
  return LANGUAGES[language as Language];
}
