import help from '../en/help.json';
import { addTexts } from './add-texts.ts';

await addTexts({ help }, () => import('../ja-lists.ts'));
