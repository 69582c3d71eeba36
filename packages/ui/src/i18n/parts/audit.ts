import audit from '../en/audit.json';
import { addTexts } from './add-texts.ts';

await addTexts({ audit }, () => import('../ja-pages.ts'));
