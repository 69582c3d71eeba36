import system from '../en/system.json';
import { addTexts } from './add-texts.ts';

await addTexts({ system }, () => import('../ja-pages.ts'));
