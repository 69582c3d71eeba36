import stored from '../en/stored.json';
import { addTexts } from './add-texts.ts';

await addTexts({ stored }, () => import('../ja-pages.ts'));
