import storage from '../en/storage.json';
import { addTexts } from './add-texts.ts';

await addTexts({ storage }, () => import('../ja-pages.ts'));
