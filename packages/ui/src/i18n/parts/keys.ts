import keys from '../en/keys.json';
import { addTexts } from './add-texts.ts';

await addTexts({ keys }, () => import('../ja-pages.ts'));
