import account from '../en/account.json';
import { addTexts } from './add-texts.ts';

await addTexts({ account }, () => import('../ja-account.ts'));
