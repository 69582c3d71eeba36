import alerts from '../en/alerts.json';
import { addTexts } from './add-texts.ts';

await addTexts({ alerts }, () => import('../ja-pages.ts'));
