import conversations from '../en/conversations.json';
import { addTexts } from './add-texts.ts';

await addTexts({ conversations }, () => import('../ja-pages.ts'));
