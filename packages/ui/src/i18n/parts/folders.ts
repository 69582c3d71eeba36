import folders from '../en/folders.json';
import { addTexts } from './add-texts.ts';

await addTexts({ folders }, () => import('../ja-lists.ts'));
