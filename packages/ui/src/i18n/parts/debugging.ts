import debugging from '../en/debugging.json';
import { addTexts } from './add-texts.ts';

await addTexts({ debugging }, () => import('../ja-forms.ts'));
