import settings from '../en/settings.json';
import { addTexts } from './add-texts.ts';

await addTexts({ settings }, () => import('../ja-pages.ts'));
