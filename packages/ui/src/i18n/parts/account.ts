import account from '../en/account.json';
import { addTexts } from './add-texts.ts';

addTexts({ account });
